//! The HTML reports of `metier bench` in a real browser: small and wide, light and dark, in colours that the
//! system forces, without colour, enlarged, on paper, and without a mouse. Pictures are in `target/screenshots`.

use insta::assert_snapshot;
use metier_testkit::{Browser, Outcome, TestEnv};

use crate::{environment, run_own};

/// Skills with names as long as names may be.
fn with_skills() -> TestEnv {
    let env = environment();
    let long = format!("long-{}", "name-".repeat(11) + "end");
    for name in ["ink", "paper", &long] {
        let body = format!("How to use {name}. ").repeat(40);
        let header = format!("---\nname: {name}\ndescription: Use {name} for printing.\n---\n");
        env.write(format!("project/skills/{name}/SKILL.md"), format!("{header}\n{body}\n"));
        env.write(format!("project/skills/{name}/doc.md"), format!("About {name}. ").repeat(30));
    }
    env
}

fn look(env: &TestEnv, browser: &Browser, pages: &[&str]) -> Outcome {
    let mut command = browser.check(&env.home());
    command.args(pages).current_dir(env.project());
    env.finish(command, "")
}

#[test]
fn everybody_can_read_the_reports() {
    let Some(browser) = Browser::find("reports::everybody_can_read_the_reports") else { return };
    let env = with_skills();
    for report in ["prompt-cache", "token-report"] {
        let outcome = run_own(&env, &format!("bench {report} --html {report}.html -q"));
        assert_eq!(outcome.code, 0, "{outcome}");
    }
    let outcome = look(&env, &browser, &["prompt-cache.html", "token-report.html"]);
    assert_snapshot!(outcome.to_string(), @"
    exit 0
    ----- stdout
    2 of 2 pages looked at, problems: 0
    ----- stderr
    ");
}

/// A page with one of each mistake that is looked for.
const BAD: &str = r##"<!DOCTYPE html>
<html>
<head><meta charset="utf-8"><title>A page with mistakes</title>
<style>
  p { font-size: 16px; }
  .faint { color: #bbb; }
  .wide { width: 1500px; }
  .scrolls { overflow-x: auto; width: 200px; }
  .cut { overflow: hidden; height: 1.2em; width: 200px; }
  button { width: 80px; height: 40px; }
  button:focus { outline: none; }
</style></head>
<body><main>
<h1>Mistakes</h1>
<h3>A level is missing</h3>
<p class="faint">Hardly to be read.</p>
<p class="wide">Wider than the window.</p>
<div class="scrolls" tabindex="-1"><div style="width: 900px">Scrolls, and no key reaches it.</div></div>
<p class="cut">This text is cut off where there is no room for all of its words.</p>
<button>Press</button>
<figure><svg width="100" height="60">
  <rect width="60" height="16" fill="#c00000"></rect><rect y="20" width="60" height="16" fill="#006000"></rect>
  <rect y="40" width="60" height="16" fill="#eeeeee"></rect>
</svg></figure>
<table><tr><td>no</td><td>headings</td></tr></table>
<img alt="" src="http://127.0.0.1:9/picture.png">
</main></body>
</html>
"##;

#[test]
fn a_page_with_mistakes_is_found_out() {
    let Some(browser) = Browser::find("reports::a_page_with_mistakes_is_found_out") else { return };
    let env = environment();
    env.write("project/bad.html", BAD);
    let outcome = look(&env, &browser, &["bad.html"]);
    assert_eq!(outcome.code, 1, "{outcome}");
    // What is wrong, without in which situations.
    let what = |line: &str| line.split_once("] ").map(|(_, problem)| problem.to_owned());
    let mut problems: Vec<String> = outcome.stdout.lines().filter_map(what).collect();
    problems.sort();
    assert_snapshot!(problems.join("\n"), @r#"
    alone: asks for http://127.0.0.1:9/picture.png
    axe color-contrast: Elements must meet minimum color contrast ratio thresholds (.faint)
    axe heading-order: Heading levels should only increase by one (h3)
    axe html-has-lang: <html> element must have a lang attribute (html)
    axe scrollable-region-focusable: Scrollable region must have keyboard access (.scrolls)
    clipped: <p class="cut"></p>
    focus: cannot be seen: <button></button>
    graphics: differs by colour alone: rect, class null
    graphics: hardly stands out: rect, class null
    keyboard: scrolls, and Tab does not reach it: <div class="scrolls" tabindex="-1"></div>
    large text: does not follow its reader's size: p
    overflow: the page is 1508 wide and its window 1280: <p class="wide"></p>
    overflow: the page is 1508 wide and its window 320: <p class="wide"></p>
    overflow: the page is 1508 wide and its window 360: <p class="wide"></p>
    overflow: the page is 1508 wide and its window 640: <p class="wide"></p>
    overflow: the page is 1508 wide and its window 718: <p class="wide"></p>
    paper: is cut off: <div class="scrolls" tabindex="-1"></div>
    table: has a row without a name: noheadings
    table: has no caption: noheadings
    table: has no headings: noheadings
    "#);
}

#[test]
fn a_page_that_is_not_there_is_an_error_and_not_a_success() {
    let test = "reports::a_page_that_is_not_there_is_an_error_and_not_a_success";
    let Some(browser) = Browser::find(test) else { return };
    let outcome = look(&environment(), &browser, &["nowhere.html"]);
    assert_eq!(outcome.code, 2, "{outcome}");
    assert!(outcome.stdout.contains("0 of 1 pages looked at"), "{outcome}");
}
