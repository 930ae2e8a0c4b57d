//! Names, ids, MIME types and references: what is taken, and what is said about the rest.

use metier_workspace::artifact::{About, ArtifactKey, ArtifactName, ArtifactRef, Owner};

use crate::support::{chain, owner};

fn judged<T>(texts: &[&str], judge: impl Fn(&str) -> Result<String, T>) -> String
where
    T: std::error::Error + 'static,
{
    let line = |text: &&str| judge(text).unwrap_or_else(|error| chain(&error));
    texts.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_name_is_a_path_that_stays_where_it_is() {
    let (long, long_part) = ("ab/".repeat(342), "x".repeat(256));
    let names = [
        "out/report.txt",
        "user:out/report.txt",
        "user:user:x",
        "icon@2x.png",
        "USER:x",
        "",
        "user:",
        "/etc/passwd",
        "user:/x",
        "../../x",
        "a/../b",
        "a/./b",
        ".",
        "..",
        "user:..",
        "a//b",
        "a/",
        "a\\b",
        "a\0b",
        "a\nb",
        "\u{1b}[31m",
        "\u{85}",
        &long,
        &long_part,
    ];
    let shown = judged(&names, |name| {
        let key = ArtifactKey::new(&owner("s"), name)?;
        let whose = if key.scope().session().is_some() { "the session's" } else { "the user's" };
        Ok::<_, metier_workspace::artifact::ArtifactError>(format!("{} is {whose}", key.name()))
    });
    insta::assert_snapshot!(shown, @r"
    out/report.txt is the session's
    user:out/report.txt is the user's
    user:user:x is the user's
    icon@2x.png is the session's
    USER:x is the session's
    `` cannot name an artifact: it is empty
    `user:` cannot name an artifact: it is empty
    `/etc/passwd` cannot name an artifact: it begins with a slash
    `user:/x` cannot name an artifact: it begins with a slash
    `../../x` cannot name an artifact: it has a part `.` or `..`
    `a/../b` cannot name an artifact: it has a part `.` or `..`
    `a/./b` cannot name an artifact: it has a part `.` or `..`
    `.` cannot name an artifact: it has a part `.` or `..`
    `..` cannot name an artifact: it has a part `.` or `..`
    `user:..` cannot name an artifact: it has a part `.` or `..`
    `a//b` cannot name an artifact: it has an empty part or ends in a slash
    `a/` cannot name an artifact: it has an empty part or ends in a slash
    `a\\b` cannot name an artifact: it has a backslash; use slashes
    `a\0b` cannot name an artifact: it has a control character
    `a\nb` cannot name an artifact: it has a control character
    `\u{1b}[31m` cannot name an artifact: it has a control character
    `\u{85}` cannot name an artifact: it has a control character
    `ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab/ab…` cannot name an artifact: it is longer than 1024 bytes
    `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` cannot name an artifact: it has a part longer than 255 bytes
    ");
}

#[test]
fn a_reference_ends_in_a_version_or_means_the_newest() {
    let references = [
        "artifact://a",
        "artifact://out/a.txt@12",
        "artifact://user:a@0",
        "artifact://a@007",
        "artifact://a@b",
        "artifact://a@1@2",
        "artifact://a@",
        "artifact://icon@2x.png",
        "artifact://a@18446744073709551615",
        "artifact://a@18446744073709551616",
        "artifact://",
        "artifact://@1",
        "artifact://../x",
        "Artifact://a",
        "host:///a",
        "a@1",
        "",
    ];
    let shown = judged(&references, |text| {
        let reference = ArtifactRef::parse(text)?;
        let (name, version) = (reference.name(), reference.version());
        assert_eq!(ArtifactRef::parse(&reference.to_string()).unwrap(), reference);
        Ok::<_, metier_workspace::artifact::ArtifactError>(format!("{name} {version:?}"))
    });
    insta::assert_snapshot!(shown, @r"
    a None
    out/a.txt Some(12)
    user:a Some(0)
    a Some(7)
    a@b None
    a@1 Some(2)
    a@ None
    icon@2x.png None
    a Some(18446744073709551615)
    `artifact://a@18446744073709551616` is not a reference like `artifact://name` or `artifact://name@2`: no version is that large
    `` cannot name an artifact: it is empty
    `` cannot name an artifact: it is empty
    `../x` cannot name an artifact: it has a part `.` or `..`
    `Artifact://a` is not a reference like `artifact://name` or `artifact://name@2`: it does not begin with `artifact://`
    `host:///a` is not a reference like `artifact://name` or `artifact://name@2`: it does not begin with `artifact://`
    `a@1` is not a reference like `artifact://name` or `artifact://name@2`: it does not begin with `artifact://`
    `` is not a reference like `artifact://name` or `artifact://name@2`: it does not begin with `artifact://`
    ");
}

#[test]
fn a_name_that_ends_like_a_version_needs_one() {
    let name = ArtifactName::parse("notes@7").unwrap();
    let with_version = ArtifactRef::to_version(name.clone(), 0);
    assert_eq!(with_version.to_string(), "artifact://notes@7@0");
    assert_eq!(ArtifactRef::parse("artifact://notes@7@0").unwrap(), with_version);
    assert_eq!(with_version.key(&owner("s")).name(), "notes@7");
    insta::assert_snapshot!(ArtifactRef::to_newest(name).unwrap_err(), @"`notes@7` is not a reference like `artifact://name` or `artifact://name@2`: its name ends like a version, so add the version");
}

#[test]
fn ids_are_any_text_but_not_none() {
    let long = "x".repeat(1025);
    let shown = judged(&["", &long, "/", "\0"], |id| {
        Owner::new("app", id, "s").map(|owner| format!("{:?}", owner.user_scope().user()))
    });
    insta::assert_snapshot!(shown, @r#"
    the id of the user cannot be used: it is empty
    the id of the user cannot be used: it is longer than 1024 bytes
    "/"
    "\0"
    "#);
}

#[test]
fn mime_types_are_short_printable_and_have_a_slash() {
    let long = format!("text/{}", "x".repeat(251));
    let types = ["text/plain", "text/plain; charset=utf-8", "", "text", "text/\n", "té/xt", &long];
    let shown = judged(&types, |text| About::new(text).map(|about| about.mime_type().to_owned()));
    insta::assert_snapshot!(shown, @r"
    text/plain
    text/plain; charset=utf-8
    `` is not a MIME type, which looks like `text/plain`
    `text` is not a MIME type, which looks like `text/plain`
    `text/\n` is not a MIME type, which looks like `text/plain`
    `té/xt` is not a MIME type, which looks like `text/plain`
    `text/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` is not a MIME type, which looks like `text/plain`
    ");
}
