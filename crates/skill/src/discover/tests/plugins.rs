//! Plugins and where they say their skills are.

use crate::discover::find_plugins;
use crate::scratch::Scratch;

fn outcome(scratch: &Scratch, folder: &str) -> String {
    let (plugins, problems) = find_plugins(&scratch.path(folder));
    let mut text = String::new();
    for plugin in plugins {
        let roots: Vec<String> =
            plugin.roots.iter().map(|it| scratch.shorten(&it.display().to_string())).collect();
        text.push_str(&format!("{}: {}\n", plugin.name, roots.join(", ")));
    }
    text + &scratch.problems(&problems)
}

#[test]
fn a_manifest_names_the_plugin_and_its_folders() {
    let scratch = Scratch::new();
    scratch.write("p/one/plugin.toml", "name = 'uno'\nskills = ['skills', 'more/skills']\n");
    scratch.write("p/two/plugin.toml", "skills = './abilities/'\n");
    scratch.write("p/three/.claude-plugin/plugin.json", r#"{"name": "tres", "version": "1"}"#);
    scratch.write("p/four/.claude-plugin/plugin.json", r#"{"skills": ["./a", "./b"]}"#);
    scratch.write("p/none/skills/x/SKILL.md", "");
    scratch.write("p/file.toml", "");
    insta::assert_snapshot!(outcome(&scratch, "p"), @"
    four: p/four/./a, p/four/./b
    uno: p/one/skills, p/one/more/skills
    tres: p/three/skills
    two: p/two/./abilities/
    ");
}

#[test]
fn a_folder_may_be_a_plugin_itself() {
    let scratch = Scratch::new();
    scratch.write("p/plugin.toml", "name = 'self'\n");
    scratch.write("p/child/plugin.toml", "name = 'child'\n");
    insta::assert_snapshot!(outcome(&scratch, "p"), @"self: p/skills");
    insta::assert_snapshot!(outcome(&scratch, "nowhere"), @"");
}

#[test]
fn folders_outside_the_plugin_are_refused() {
    let scratch = Scratch::new();
    for (name, skills) in [
        ("a", "'../other'"),
        ("b", "'skills/../../other'"),
        ("c", "'/etc'"),
        ("d", "['skills', '..']"),
    ] {
        scratch.write(format!("p/{name}/plugin.toml"), format!("skills = {skills}\n"));
    }
    scratch.skill("elsewhere/skill");
    scratch.write("p/e/plugin.toml", "");
    scratch.link("p/e/skills", "../../elsewhere");
    scratch.skill("linked/skills/skill");
    scratch.write("linked/plugin.toml", "");
    scratch.link("p/linked", "../linked");
    insta::assert_snapshot!(outcome(&scratch, "p"), @"
    linked: p/linked/skills
    M089 warning p/a/plugin.toml: the folder `../other` leads outside the plugin
    M089 warning p/b/plugin.toml: the folder `skills/../../other` leads outside the plugin
    M089 warning p/c/plugin.toml: the folder `/etc` leads outside the plugin
    M089 warning p/d/plugin.toml: the folder `..` leads outside the plugin
    M089 warning p/e/plugin.toml: the folder `skills` leads outside the plugin
    ");
}

#[test]
fn manifests_that_cannot_be_read_are_reported() {
    let scratch = Scratch::new();
    scratch.write("p/a/plugin.toml", "skills = [");
    scratch.write("p/b/.claude-plugin/plugin.json", "{,}");
    scratch.write("p/c/plugin.toml", "skills = 7\n");
    scratch.write("p/d/plugin.toml", "skills = ['x', 7]\n");
    scratch.write("p/e/plugin.toml", "name = '../e'\n");
    scratch.write("p/f/plugin.toml", b"name = '\xff'\n");
    scratch.write("p/g/plugin.toml", format!("name = 'g'\n# {}", "x".repeat(300 << 10)));
    scratch.write("p/h/.claude-plugin/plugin.json", "[]");
    insta::assert_snapshot!(outcome(&scratch, "p"), @"
    M089 warning p/a/plugin.toml: unclosed array, expected `]`
    M089 warning p/b/.claude-plugin/plugin.json: key must be a string at line 1 column 2
    M089 warning p/c/plugin.toml: `skills` is not a list of folders
    M089 warning p/d/plugin.toml: `skills` is not a list of folders
    M089 warning p/e/plugin.toml: `../e` cannot name a plugin: it contains a path separator
    M089 warning p/f/plugin.toml: stream did not contain valid UTF-8
    M089 warning p/g/plugin.toml: the file has 307213 bytes and was not read
    M089 warning p/h/.claude-plugin/plugin.json: it is not an object with fields
    ");
}

#[test]
fn more_plugins_than_are_read_are_reported() {
    let scratch = Scratch::new();
    for number in 0..201 {
        scratch.write(format!("p/p{number:03}/plugin.toml"), "");
    }
    let (plugins, problems) = find_plugins(&scratch.path("p"));
    assert_eq!(plugins.len(), 200);
    insta::assert_snapshot!(scratch.problems(&problems), @"M089 warning p: there are more than 200 plugins; the rest is not used");
}
