//! Attacks: what somebody might try, and what becomes of it, whoever runs the command.
//!
//! There is one table. Every attack is tried with every executor, must be refused, and must leave the host as it
//! was, which each test sees for itself. Where an executor does not promise that, the cell has the sentence that
//! says so, and nothing is tried. The page `docs/attacks.md` is written from the table.

mod bombs;
mod copies;
mod links;
mod page;
mod reach;
mod references;
mod requests;
mod skills;
mod text;
mod tree;

use libtest_mimic::{Failed, Trial};
use metier_sandbox::Level;
use metier_testkit::{Surroundings, TestUser};

use crate::bench::{Bench, Who};

pub(crate) use page::trial as page_trial;
pub(crate) use reach::REACH;
pub(crate) use requests::names_in;
pub(crate) use skills::{AGAINST_SKILLS, keyed};

/// Something that somebody might try.
pub(crate) struct Attack {
    name: &'static str,
    /// What is tried, for people.
    about: &'static str,
    attempt: fn(&Bench) -> Result<(), Failed>,
    /// What becomes of it on the host, where nothing confines a program. All other executors refuse everything.
    host: Cell,
}

/// What becomes of an attack.
#[derive(Clone, Copy)]
enum Cell {
    Refused,
    /// Nobody says that it would be refused.
    NotPromised,
}

/// What `SECURITY.md` says about the executor `host`, and the reason of every cell that is not promised.
const HOST: &str = "The executor `host` promises paths, environment, limits, output caps and the end of the tree; \
                    it isolates nothing else, and must be asked for.";

impl Attack {
    const fn new(
        name: &'static str,
        about: &'static str,
        attempt: fn(&Bench) -> Result<(), Failed>,
    ) -> Self {
        Self { name, about, attempt, host: Cell::Refused }
    }

    /// One that only isolation refuses.
    const fn isolated(
        name: &'static str,
        about: &'static str,
        attempt: fn(&Bench) -> Result<(), Failed>,
    ) -> Self {
        Self { name, about, attempt, host: Cell::NotPromised }
    }

    fn cell(&self, who: Who) -> Cell {
        match who {
            Who::Host | Who::Custom => self.host,
            Who::Sandbox | Who::Docker | Who::Podman => Cell::Refused,
        }
    }
}

/// All attacks.
const TABLE: &[Attack] = &[
    Attack::new(
        "hostile_name_of_a_skill",
        "a skill named `../../x`, `/etc`, `$(…)`, with newlines or zero bytes",
        requests::hostile_name_of_a_skill,
    ),
    Attack::new(
        "hostile_entries_of_a_skill",
        "files of a skill whose paths lead out of it, or through its links",
        requests::hostile_entries_of_a_skill,
    ),
    Attack::new(
        "destination_outside",
        "`to` that leaves the workspace, or means metier's own files",
        requests::destination_outside,
    ),
    Attack::new(
        "directory_outside",
        "`cwd` that leaves, by name or through a link",
        requests::directory_outside,
    ),
    Attack::new("pattern_outside", "globs that leave", requests::pattern_outside),
    Attack::new(
        "workspace_reference_outside",
        "`workspace://` that leaves",
        requests::workspace_reference_outside,
    ),
    Attack::new(
        "workspace_reference_to_a_skills_own",
        "`workspace://` to homes, `.venv`, temporary files and private workspaces of skills",
        references::workspace_reference_to_a_skills_own,
    ),
    Attack::new(
        "workspace_reference_to_records",
        "`workspace://` to records of runs, metadata and staged skills",
        references::workspace_reference_to_records,
    ),
    Attack::new(
        "pattern_for_files_of_others",
        "globs for homes, records, streams and temporary files of other skills and runs",
        references::pattern_for_files_of_others,
    ),
    Attack::new(
        "skill_reference_outside",
        "`skill://` that leaves, or means a skill of others",
        requests::skill_reference_outside,
    ),
    Attack::new(
        "host_reference_outside",
        "`host://` outside the folders that are granted, by name or through a link",
        requests::host_reference_outside,
    ),
    Attack::new(
        "artifact_reference_outside",
        "`artifact://` that is a path",
        requests::artifact_reference_outside,
    ),
    Attack::new(
        "link_to_a_secret",
        "links in `out/` to `/etc/shadow`, to files of the caller, to `/proc`",
        links::link_to_a_secret,
    ),
    Attack::new(
        "link_to_another_session",
        "links in `out/` to files of another session",
        links::link_to_another_session,
    ),
    Attack::new(
        "links_that_lead_inputs_out",
        "links in the way of inputs, from and to",
        links::links_that_lead_inputs_out,
    ),
    Attack::new(
        "input_over_a_victim",
        "an input, copied or linked, over a link to a file of the caller",
        links::input_over_a_victim,
    ),
    Attack::new(
        "hard_links_to_the_skill",
        "hard links to files of the skill, then written",
        links::hard_links_to_the_skill,
    ),
    Attack::new(
        "pipes_and_sockets",
        "pipes and sockets where files are collected",
        links::pipes_and_sockets,
    ),
    Attack::new("endless_folders", "folders thousands of levels deep", links::endless_folders),
    Attack::new(
        "countless_links",
        "tens of thousands of links and names that are no text",
        links::countless_links,
    ),
    Attack::new(
        "swapped_while_collected",
        "a file replaced by a link between check and use, when outputs are collected",
        links::swapped_while_collected,
    ),
    Attack::new(
        "swapped_while_brought_in",
        "a folder replaced by a link between check and use, when inputs come in",
        links::swapped_while_brought_in,
    ),
    Attack::new(
        "links_in_a_workspace_that_is_removed",
        "links to files of the caller in a workspace that is removed",
        links::links_in_a_workspace_that_is_removed,
    ),
    Attack::new(
        "signs_of_a_shell",
        "quotes, newlines and substitutions in every field of a request",
        text::signs_of_a_shell,
    ),
    Attack::new(
        "quotes_and_newlines",
        "the same in the names of session, skill, files and directory at once",
        text::quotes_and_newlines,
    ),
    Attack::new(
        "environment_loaders",
        "variables that load code or say where to look: `LD_PRELOAD`, `BASH_ENV`, `MAKEFILES`, `TAR_OPTIONS`, `PATH`, proxies, …",
        text::environment_loaders,
    ),
    Attack::new(
        "times_that_are_none",
        "timeouts and commands that are none",
        text::times_that_are_none,
    ),
    Attack::new("very_long_values", "very long values in every field", text::very_long_values),
    Attack::new(
        "fork_bomb",
        "more processes than allowed, each in a session of its own",
        bombs::fork_bomb,
    ),
    Attack::new("memory_bomb", "more memory than allowed", bombs::memory_bomb),
    Attack::isolated(
        "memory_bomb_in_a_folder",
        "more memory than allowed, as files in `/dev/shm`",
        bombs::memory_bomb_in_a_folder,
    ),
    Attack::new(
        "disk_filling",
        "files larger than allowed, written or sparse",
        bombs::disk_filling,
    ),
    Attack::new(
        "disk_filling_with_many_files",
        "more on the disk than allowed, in many files",
        bombs::disk_filling_with_many_files,
    ),
    Attack::isolated(
        "filling_temporary_files",
        "more temporary files than allowed",
        bombs::filling_temporary_files,
    ),
    Attack::new("gigabyte_of_output", "a gigabyte of output", bombs::gigabyte_of_output),
    Attack::new(
        "child_that_ignores_the_end",
        "programs that ignore `SIGTERM`, stop themselves, close their output",
        bombs::child_that_ignores_the_end,
    ),
    Attack::new(
        "child_that_forks_twice",
        "a grandchild in a session of its own that ignores `SIGTERM` and holds the output",
        bombs::child_that_forks_twice,
    ),
    Attack::isolated("secrets", "reading the caller's files and `/etc/shadow`", reach::secrets),
    Attack::new("environment", "inheriting the caller's environment", reach::environment),
    Attack::isolated(
        "process_list",
        "listing and signalling other processes, reading their environment",
        reach::process_list,
    ),
    Attack::isolated("privileges", "being root, mounting, making devices", reach::privileges),
    Attack::isolated(
        "network_connect",
        "TCP, UDP and raw packets to this machine, others and metadata services",
        reach::network_connect,
    ),
    Attack::isolated("name_lookup", "asking for the address of a name", reach::name_lookup),
    Attack::isolated("abstract_socket", "calling an abstract socket", reach::abstract_socket),
    Attack::isolated(
        "named_socket",
        "calling sockets of the caller, the system and container engines",
        reach::named_socket,
    ),
    Attack::isolated(
        "write_to_the_skill",
        "changing the skill that runs, its source, or its staged copy",
        tree::write_to_the_skill,
    ),
    Attack::new(
        "write_to_the_source",
        "changing, through the skill that runs, what it was staged from",
        tree::write_to_the_source,
    ),
    Attack::new(
        "change_the_copy_that_runs",
        "rewriting, replacing or removing files of the skill that runs, with their times restored, for later runs",
        copies::change_the_copy_that_runs,
    ),
    Attack::new(
        "add_to_the_copy_that_runs",
        "adding modules, compiled code and thousands of files to the skill that runs, for later runs",
        copies::add_to_the_copy_that_runs,
    ),
    Attack::new(
        "replace_the_copy",
        "removing the copy of the skill that runs, or putting a link in its place or in that of all copies",
        copies::replace_the_copy,
    ),
    Attack::new(
        "change_staged_content",
        "changing what all copies of a skill are made of, and the manifest beside it",
        copies::change_staged_content,
    ),
    Attack::new(
        "replace_staged_content_by_a_link",
        "putting a link to a folder of the caller in the place of what all copies of a skill are made of",
        copies::replace_staged_content_by_a_link,
    ),
    Attack::new(
        "change_a_spare_copy",
        "changing a copy that a session gave back, before the next one has it",
        copies::change_a_spare_copy,
    ),
    Attack::isolated(
        "forge_records",
        "changing records, streams and metadata of runs, or reading those of earlier ones",
        tree::forge_records,
    ),
    Attack::isolated(
        "another_session",
        "reading or writing files of another session",
        tree::another_session,
    ),
    Attack::isolated(
        "temporary_files_of_another_run",
        "finding what an earlier run left in `/tmp` and `/dev/shm`",
        tree::temporary_files_of_another_run,
    ),
    Attack::isolated(
        "plant_programs",
        "putting programs where another skill of the session looks first",
        tree::plant_programs,
    ),
    Attack::isolated(
        "plant_in_the_home",
        "planting what programs load from the home directory of another skill",
        skills::plant_in_the_home,
    ),
    Attack::isolated(
        "plant_in_the_home_of_a_namesake",
        "planting what programs load from the home directory or `.venv` of a skill of the same name and another source",
        skills::plant_in_the_home_of_a_namesake,
    ),
    Attack::isolated(
        "plant_by_a_command_of_no_skill",
        "planting what another skill loads by a command of no skill, which sees all of them",
        skills::plant_by_a_command_of_no_skill,
    ),
    Attack::isolated(
        "plant_in_temporary_files",
        "planting files in `TMPDIR` and `/tmp` for another skill",
        skills::plant_in_temporary_files,
    ),
    Attack::isolated(
        "plant_in_an_environment",
        "planting programs in `.venv` of another skill, with and without a key",
        skills::plant_in_an_environment,
    ),
    Attack::isolated(
        "plant_in_work_before_a_key",
        "planting files in `work/` before another skill runs there with a key, or replacing its own",
        skills::plant_in_work_before_a_key,
    ),
    Attack::isolated(
        "plant_in_out_before_a_key",
        "the same in `out/`",
        skills::plant_in_out_before_a_key,
    ),
    Attack::isolated(
        "plant_while_a_key_is_used",
        "planting files while another skill runs with a key",
        skills::plant_while_a_key_is_used,
    ),
    Attack::new(
        "links_where_files_are_shared",
        "links where files of a run with a key are shared",
        skills::links_where_files_are_shared,
    ),
    Attack::isolated(
        "replace_an_installed_program",
        "reading or replacing a program that was installed for another skill",
        skills::replace_an_installed_program,
    ),
    Attack::isolated("kill_everything", "killing every process there is", tree::kill_everything),
];

/// The attacks that an executor must refuse.
pub(crate) fn trials(who: Who) -> impl Iterator<Item = Trial> {
    let refused = TABLE.iter().filter(move |attack| matches!(attack.cell(who), Cell::Refused));
    refused.map(move |attack| {
        let name = format!("attack::{who}::{}", attack.name);
        Trial::test(name, move || (attack.attempt)(&Bench::new(who)))
    })
}

/// The attacks on the sandbox in the surroundings of this process, after a look at whether they are as said.
pub(crate) fn trials_in(surroundings: Surroundings) -> Vec<Trial> {
    let look = move || {
        let confinement = Bench::new(Who::Sandbox).sh("true").confinement;
        let level = if surroundings.has_namespaces { Level::Full } else { Level::Landlock };
        assert_eq!(confinement.level, Some(level), "{confinement:?}");
        let is_exact = !confinement.not_promised.iter().any(|it| it == "an exact bound on memory");
        assert_eq!(is_exact, surroundings.has_groups, "{confinement:?}");
        Ok(())
    };
    let look = Trial::test("attack::the_surroundings_are_as_said", look);
    std::iter::once(look).chain(trials(Who::Sandbox)).collect()
}

/// The attacks on the sandbox once more, at each level, as root and as an ordinary user, with and without a control
/// group. Both users without anything taken away are tried elsewhere.
pub(crate) fn surrounded() -> impl Iterator<Item = Trial> {
    let is_tried =
        |it: &Surroundings| it.has_namespaces && (it.user == TestUser::Root) == it.has_groups;
    Surroundings::all().filter(move |it| !is_tried(it)).map(|surroundings| {
        let again = move || Ok(surroundings.run("attack::")?);
        Trial::test(format!("attack_{surroundings}"), again)
    })
}
