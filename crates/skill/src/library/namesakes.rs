//! Skills of other servers that have one name.
//!
//! A name is only a label there: two servers, or two folders of one, may offer skills that are called alike. None of
//! them is dropped and none takes the place of another: the first keeps the name, those that are trusted before the others,
//! and the rest go by the name of their server too.

use std::collections::BTreeSet;

use crate::diagnostic::Code;
use crate::library::gather::Skill;
use crate::name::SkillName;
use crate::problem::Problem;
use crate::remote::RemoteSkill;

/// Gives each skill of another server a name that no other such skill has.
pub(super) fn separate(skills: &mut Vec<Skill>, problems: &mut Vec<Problem>) {
    let here = skills.iter().filter(|skill| skill.remote().is_none());
    let here: BTreeSet<SkillName> = here.map(|skill| skill.name.clone()).collect();
    let mut taken = BTreeSet::new();
    let mut homeless = BTreeSet::new();
    for wanted in [true, false] {
        for (index, skill) in skills.iter_mut().enumerate() {
            let Some(remote) = skill.remote().filter(|_| skill.is_trusted() == wanted) else {
                continue;
            };
            if taken.insert(skill.name.clone()) {
                continue;
            }
            let place = skill.place.file();
            let is_free = |name: &SkillName| !here.contains(name) && !taken.contains(name);
            let told = match full_names(remote).into_iter().find(is_free) {
                Some(name) => {
                    taken.insert(name.clone());
                    let told = format!(
                        "`{}` is the name of another server's skill too; this one goes by `{name}`",
                        skill.name
                    );
                    skill.rename(name);
                    told
                }
                None => {
                    homeless.insert(index);
                    format!("there is no name left for this `{}`, so it is not used", skill.name)
                }
            };
            problems.push(Problem::new(Code::SameRootTwice, &place, told));
        }
    }
    let mut index = 0;
    skills.retain(|_| {
        index += 1;
        !homeless.contains(&(index - 1))
    });
}

/// The names a skill may go by when its own is taken: with its server, and with its whole path there.
fn full_names(skill: &RemoteSkill) -> Vec<SkillName> {
    let path = skill.uri.split_once("://").map_or(&*skill.uri, |(_, path)| path);
    let path = path.strip_suffix("/SKILL.md").unwrap_or(path).replace('/', ".");
    let names = [skill.full_name(), format!("{}:{path}", skill.server)];
    names.iter().filter_map(|name| SkillName::new(name).ok()).collect()
}
