//! The forty cases of the format's reference tool, by their names there, through our commands.

use insta::assert_snapshot;
use metier_testkit::TestEnv;

use crate::{compact, environment, run};

/// Checks a skill in a folder of a name.
fn validate(folder: &str, text: &str) -> String {
    let env = environment();
    env.write(format!("project/{folder}/SKILL.md"), text);
    compact(&run(&env, &format!("validate {folder}")))
}

/// Checks a header in a folder of a name.
fn validate_header(folder: &str, header: &str) -> String {
    validate(folder, &format!("---\n{header}\n---\nBody\n"))
}

/// Reads the properties of a skill in the folder `my-skill`.
fn properties(text: &str) -> String {
    let env = environment();
    env.write("project/my-skill/SKILL.md", text);
    compact(&run(&env, "read-properties my-skill"))
}

fn empty_folder() -> TestEnv {
    let env = environment();
    env.write("project/my-skill/notes.txt", "");
    env
}

mod parser {
    use super::*;

    #[test]
    fn valid_frontmatter() {
        assert_snapshot!(properties("---\nname: my-skill\ndescription: A test skill\n---\n# My Skill\n"),
            @r#"0 | { / "name": "my-skill", / "description": "A test skill" / } |"#);
    }

    #[test]
    fn missing_frontmatter() {
        assert_snapshot!(properties("# No header\n"), @"1 |  | Error: SKILL.md must start with YAML frontmatter (---)");
        assert_snapshot!(validate("my-skill", "# No header\n"), @"1 |  | Validation failed for my-skill: / - SKILL.md must start with YAML frontmatter (---)");
    }

    #[test]
    fn unclosed_frontmatter() {
        assert_snapshot!(properties("---\nname: my-skill\ndescription: A test skill\n"), @"1 |  | Error: SKILL.md frontmatter not properly closed with ---");
        assert_snapshot!(validate("my-skill", "---\nname: my-skill\n"), @"1 |  | Validation failed for my-skill: / - SKILL.md frontmatter not properly closed with ---");
    }

    #[test]
    fn invalid_yaml() {
        assert_snapshot!(validate_header("my-skill", "name: [invalid\ndescription: broken: here"), @"1 |  | Validation failed for my-skill: / - Invalid YAML in frontmatter: illegal placement of ':' indicator (line 3); put quotes around the value");
        assert_snapshot!(properties("---\nname: \"open\ndescription: d\n---\n"), @r#"0 | { / "name": "\"open", / "description": "d" / } |"#);
    }

    #[test]
    fn non_dict_frontmatter() {
        assert_snapshot!(properties("---\n- just\n- a list\n---\nBody\n"), @"1 |  | Error: SKILL.md frontmatter must be a YAML mapping");
        assert_snapshot!(validate("my-skill", "---\njust text\n---\nBody\n"), @"1 |  | Validation failed for my-skill: / - SKILL.md frontmatter must be a YAML mapping");
    }

    #[test]
    fn read_valid_skill() {
        assert_snapshot!(
            properties("---\nname: my-skill\ndescription: A test skill\nlicense: MIT\n---\n# My Skill\n"), @r#"0 | { / "name": "my-skill", / "description": "A test skill", / "license": "MIT" / } |"#);
    }

    #[test]
    fn read_with_metadata() {
        assert_snapshot!(
            properties("---\nname: my-skill\ndescription: d\nmetadata:\n  author: Test Author\n  version: 1.0\n---\n"), @r#"0 | { / "name": "my-skill", / "description": "d", / "metadata": { / "author": "Test Author", / "version": "1.0" / } / } |"#);
    }

    #[test]
    fn missing_skill_md() {
        assert_snapshot!(compact(&run(&empty_folder(), "read-properties my-skill")), @"1 |  | Error: SKILL.md not found in my-skill");
    }

    #[test]
    fn missing_name() {
        assert_snapshot!(properties("---\ndescription: d\n---\n"), @"1 |  | Error: Missing required field in frontmatter: name");
    }

    #[test]
    fn missing_description() {
        assert_snapshot!(properties("---\nname: my-skill\n---\n"), @"1 |  | Error: Missing required field in frontmatter: description");
    }

    #[test]
    fn find_skill_md_prefers_uppercase() {
        let env = environment();
        env.write("project/my-skill/SKILL.md", "---\nname: my-skill\ndescription: upper\n---\n");
        env.write("project/my-skill/skill.md", "---\nname: my-skill\ndescription: lower\n---\n");
        assert_snapshot!(compact(&run(&env, "read-properties my-skill")), @r#"0 | { / "name": "my-skill", / "description": "upper" / } |"#);
    }

    #[test]
    fn find_skill_md_accepts_lowercase() {
        let env = environment();
        env.write("project/my-skill/skill.md", "---\nname: my-skill\ndescription: lower\n---\n");
        assert_snapshot!(compact(&run(&env, "validate my-skill")), @"0 | Valid skill: my-skill |");
        assert_snapshot!(compact(&run(&env, "validate my-skill/skill.md")), @"0 | Valid skill: my-skill/skill.md |");
    }

    #[test]
    fn find_skill_md_returns_none_when_missing() {
        assert_snapshot!(compact(&run(&empty_folder(), "to-prompt my-skill")), @"1 | <available_skills> / </available_skills> | Error: SKILL.md not found in my-skill");
    }

    #[test]
    fn read_properties_with_lowercase_skill_md() {
        let env = environment();
        env.write("project/my-skill/skill.md", "---\nname: my-skill\ndescription: lower\n---\n");
        assert_snapshot!(compact(&run(&env, "read-properties my-skill")), @r#"0 | { / "name": "my-skill", / "description": "lower" / } |"#);
        assert_snapshot!(compact(&run(&env, "to-prompt my-skill")), @"0 | <available_skills> / <skill> / <name> / my-skill / </name> / <description> / lower / </description> / <location> / [PROJECT]/my-skill/skill.md / </location> / </skill> / </available_skills> |");
    }

    #[test]
    fn read_with_allowed_tools() {
        assert_snapshot!(
            properties("---\nname: my-skill\ndescription: d\nallowed-tools: Bash(jq:*) Bash(git:*)\n---\n"), @r#"0 | { / "name": "my-skill", / "description": "d", / "allowed-tools": "Bash(jq:*) Bash(git:*)" / } |"#);
    }
}

mod prompt {
    use super::*;

    #[test]
    fn empty_list() {
        assert_snapshot!(run(&environment(), "to-prompt"), @"
        exit 0
        ----- stdout
        <available_skills>
        </available_skills>
        ----- stderr
        ");
    }

    #[test]
    fn single_skill() {
        let env = environment();
        env.skill("project", "my-skill", "A test skill");
        assert_snapshot!(run(&env, "to-prompt my-skill"), @"
        exit 0
        ----- stdout
        <available_skills>
        <skill>
        <name>
        my-skill
        </name>
        <description>
        A test skill
        </description>
        <location>
        [PROJECT]/my-skill/SKILL.md
        </location>
        </skill>
        </available_skills>
        ----- stderr
        ");
    }

    #[test]
    fn multiple_skills() {
        let env = environment();
        env.skill("project", "skill-b", "Second");
        env.skill("project", "skill-a", "First");
        assert_snapshot!(compact(&run(&env, "to-prompt skill-b skill-a/SKILL.md")), @"0 | <available_skills> / <skill> / <name> / skill-b / </name> / <description> / Second / </description> / <location> / [PROJECT]/skill-b/SKILL.md / </location> / </skill> / <skill> / <name> / skill-a / </name> / <description> / First / </description> / <location> / [PROJECT]/skill-a/SKILL.md / </location> / </skill> / </available_skills> |");
    }

    #[test]
    fn special_characters_escaped() {
        let env = environment();
        env.skill("project", "special", "'Use <foo> & \"bar\" and it''s fine'");
        assert_snapshot!(compact(&run(&env, "to-prompt special")), @"0 | <available_skills> / <skill> / <name> / special / </name> / <description> / Use &lt;foo&gt; &amp; &quot;bar&quot; and it&#x27;s fine / </description> / <location> / [PROJECT]/special/SKILL.md / </location> / </skill> / </available_skills> |");
    }
}

mod validator {
    use super::*;

    #[test]
    fn valid_skill() {
        assert_snapshot!(validate_header("my-skill", "name: my-skill\ndescription: d"), @"0 | Valid skill: my-skill |");
    }

    #[test]
    fn nonexistent_path() {
        assert_snapshot!(compact(&run(&environment(), "validate nowhere")), @"2 |  | Validation failed for nowhere: / - Path does not exist: nowhere");
        assert_snapshot!(compact(&run(&environment(), "read-properties nowhere")), @"2 |  | Error: SKILL.md not found in nowhere");
    }

    #[test]
    fn not_a_directory() {
        let env = environment();
        env.write("project/file.txt", "text");
        assert_snapshot!(compact(&run(&env, "validate file.txt")), @"1 |  | Validation failed for file.txt: / - Not a directory: file.txt");
    }

    #[test]
    fn missing_skill_md() {
        assert_snapshot!(compact(&run(&empty_folder(), "validate my-skill")), @"1 |  | Validation failed for my-skill: / - Missing required file: SKILL.md");
    }

    #[test]
    fn invalid_name_uppercase() {
        assert_snapshot!(validate_header("MySkill", "name: MySkill\ndescription: d"), @"1 |  | Validation failed for MySkill: / - Skill name 'MySkill' must be lowercase");
    }

    #[test]
    fn name_too_long() {
        let name = "a".repeat(70);
        assert_snapshot!(validate_header(&name, &format!("name: {name}\ndescription: d")), @"1 |  | Validation failed for aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: / - Skill name 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' exceeds 64 character limit (70 chars)");
    }

    #[test]
    fn name_leading_hyphen() {
        assert_snapshot!(validate_header("./-my-skill", "name: -my-skill\ndescription: d"), @"1 |  | Validation failed for ./-my-skill: / - Skill name cannot start or end with a hyphen");
    }

    #[test]
    fn name_consecutive_hyphens() {
        assert_snapshot!(validate_header("my--skill", "name: my--skill\ndescription: d"), @"1 |  | Validation failed for my--skill: / - Skill name cannot contain consecutive hyphens");
    }

    #[test]
    fn name_invalid_characters() {
        assert_snapshot!(validate_header("my_skill", "name: my_skill\ndescription: d"), @"1 |  | Validation failed for my_skill: / - Skill name 'my_skill' contains invalid characters. Only letters, digits, and hyphens are allowed.");
    }

    #[test]
    fn name_directory_mismatch() {
        assert_snapshot!(validate_header("wrong-name", "name: correct-name\ndescription: d"), @"1 |  | Validation failed for wrong-name: / - Directory name 'wrong-name' must match skill name 'correct-name'");
    }

    #[test]
    fn unexpected_fields() {
        assert_snapshot!(
            validate_header("my-skill", "name: my-skill\ndescription: d\nzeta: 1\nauthor: me"), @"1 |  | Validation failed for my-skill: / - Unexpected fields in frontmatter: author, zeta. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.");
    }

    #[test]
    fn valid_with_all_fields() {
        assert_snapshot!(
            validate_header("my-skill", "name: my-skill\ndescription: d\nlicense: MIT\n\
                compatibility: Linux\nallowed-tools: Read\nmetadata:\n  author: Test"), @"0 | Valid skill: my-skill |");
    }

    #[test]
    fn allowed_tools_accepted() {
        assert_snapshot!(
            validate_header("my-skill", "name: my-skill\ndescription: d\nallowed-tools: Bash(jq:*)"), @"0 | Valid skill: my-skill |");
    }

    #[test]
    fn i18n_chinese_name() {
        assert_snapshot!(validate_header("技能", "name: 技能\ndescription: d"), @"0 | Valid skill: 技能 |");
    }

    #[test]
    fn i18n_russian_name_with_hyphens() {
        assert_snapshot!(validate_header("мой-навык", "name: мой-навык\ndescription: d"), @"0 | Valid skill: мой-навык |");
    }

    #[test]
    fn i18n_russian_lowercase_valid() {
        assert_snapshot!(validate_header("навык", "name: навык\ndescription: d"), @"0 | Valid skill: навык |");
    }

    #[test]
    fn i18n_russian_uppercase_rejected() {
        assert_snapshot!(validate_header("НАВЫК", "name: НАВЫК\ndescription: d"), @"1 |  | Validation failed for НАВЫК: / - Skill name 'НАВЫК' must be lowercase");
    }

    #[test]
    fn description_too_long() {
        let text = format!("name: my-skill\ndescription: {}", "x".repeat(1100));
        assert_snapshot!(validate_header("my-skill", &text), @"1 |  | Validation failed for my-skill: / - Description exceeds 1024 character limit (1100 chars)");
    }

    #[test]
    fn valid_compatibility() {
        assert_snapshot!(
            validate_header("my-skill", "name: my-skill\ndescription: d\ncompatibility: Python 3.11+"), @"0 | Valid skill: my-skill |");
    }

    #[test]
    fn compatibility_too_long() {
        let text = format!("name: my-skill\ndescription: d\ncompatibility: {}", "x".repeat(550));
        assert_snapshot!(validate_header("my-skill", &text), @"1 |  | Validation failed for my-skill: / - Compatibility exceeds 500 character limit (550 chars)");
    }

    #[test]
    fn nfkc_normalization() {
        assert_snapshot!(validate_header("caf\u{e9}", "name: cafe\u{301}\ndescription: d"), @"0 | Valid skill: café |");
    }
}
