//! What holds for every command and every policy.

mod machine;

use std::path::Path;

use machine::{Machine, START, policy, texts};
use metier_approval::{
    Action, Ask, Basis, Mode, Plan, Policy, Rules, Simple, Verdict, judge, parse, quote,
};
use proptest::prelude::*;

const PROGRAMS: &str = "ls cat head sort git sh bash python3 env nice timeout sudo xargs find busybox gog ./tool /bin/ls \
    nowhere touch sed make npx";
const ARGUMENTS: &str = "-l -n 5 -o file a -c 'x y' status push A=1 TZ=x LD_PRELOAD=x -exec ls -i sh -- - /etc/passwd -rn touch";
const ENTRIES: &[&str] = &[
    "ls",
    "*",
    "/**",
    "git",
    "sort",
    "sh",
    "env",
    "find",
    "bash --args .*",
    "git --args status",
    "touch --dir /proj/sub",
    "/bin/ls",
    "/proj/tool",
    "make --dir /proj",
    "python3 --args (",
    "* --args -l",
];

fn word(words: &'static str) -> impl Strategy<Value = String> {
    prop::sample::select(texts(words))
}

fn command() -> impl Strategy<Value = String> {
    let simple = (
        word(PROGRAMS),
        prop::collection::vec(word(ARGUMENTS), 0..4),
        word("_ _ _ 2>&1 >out >.git/x <a >/etc/x"),
    )
        .prop_map(|(program, arguments, redirection)| {
            let redirection = redirection.replace('_', "");
            format!("{program} {} {redirection}", arguments.join(" "))
        });
    let variable = word("_ _ _ _ TZ=x FOO=1 PATH=x").prop_map(|text| text.replace('_', ""));
    let step = (variable, simple).prop_map(|(variable, simple)| format!("{variable} {simple}"));
    let step = prop_oneof![6 => step, 1 => word("sub link nowhere").prop_map(|folder| format!("cd {folder}"))];
    let joint = prop::sample::select(vec![" | ", " && ", " ; ", " || "]);
    (step.clone(), prop::collection::vec((joint, step), 0..3)).prop_map(|(first, rest)| {
        rest.into_iter().fold(first, |text, (joint, step)| text + joint + &step)
    })
}

fn rules() -> impl Strategy<Value = Rules> {
    let mode = || prop::sample::select(vec![Mode::Deny, Mode::Allowlist, Mode::Full]);
    let ask = prop::sample::select(vec![Ask::Always, Ask::OnMiss, Ask::Off]);
    (mode(), ask, mode()).prop_map(|(mode, ask, fallback)| Rules { mode, ask, fallback })
}

fn policies() -> impl Strategy<Value = Policy> {
    let entries = prop::sample::subsequence(ENTRIES.to_vec(), 0..ENTRIES.len());
    let filters = prop::sample::subsequence(texts("head sort cat wc tr"), 0..=5);
    (entries, filters, rules()).prop_map(|(entries, filters, rules)| Policy {
        rules,
        safe_programs: filters,
        ..policy(&entries)
    })
}

fn decide(text: &str, policy: &Policy) -> Verdict {
    judge(&parse(text), Path::new(START), &Machine::new(), policy)
}

fn simples(plan: &Plan) -> Vec<&Simple> {
    let steps = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Run(programs) => Some(programs),
        Action::Enter(_) => None,
    });
    steps.flatten().collect()
}

fn strictness(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Allow(_) | Verdict::AllowText { .. } => 0,
        Verdict::Ask { .. } => 1,
        Verdict::Deny { .. } => 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn nothing_is_allowed_that_a_plan_does_not_explain(text in command(), policy in policies()) {
        match decide(&text, &policy) {
            Verdict::Allow(approved) => {
                prop_assert_ne!(policy.rules.mode, Mode::Deny);
                prop_assert_eq!(Ok(approved.plan.clone()), parse(&text));
                let simples = simples(&approved.plan);
                prop_assert_eq!(simples.len(), approved.programs.len());
                for (simple, judged) in simples.iter().zip(&approved.programs) {
                    let basis = judged.basis.as_ref();
                    prop_assert!(basis.is_some());
                    prop_assert_eq!(policy.rules.mode == Mode::Full || basis != Some(&Basis::Full), true);
                    for (at, inner) in &judged.inner {
                        prop_assert!(inner.path.ends_with(simple.words[*at].trim_start_matches("./").trim_start_matches('/')));
                    }
                }
            }
            Verdict::AllowText { .. } => {
                prop_assert_eq!((policy.rules.mode, policy.rules.ask), (Mode::Full, Ask::Off));
            }
            Verdict::Ask { plan, offer, .. } => {
                prop_assert_ne!(policy.rules.ask, Ask::Off);
                let is_offered = offer.is_some();
                prop_assert!(!is_offered || (plan.is_some() && policy.rules.ask == Ask::OnMiss));
            }
            Verdict::Deny { reason } => prop_assert!(!reason.is_empty()),
        }
    }

    #[test]
    fn the_same_question_has_the_same_answer(text in command(), policy in policies()) {
        prop_assert_eq!(decide(&text, &policy), decide(&text, &policy));
    }

    #[test]
    fn another_entry_never_takes_anything_away(text in command(), policy in policies(), more in prop::sample::select(ENTRIES.to_vec()), at in 0_usize..9) {
        let mut wider = policy.clone();
        wider.entries.insert(at.min(policy.entries.len()), machine::entry(more));
        let (before, after) = (decide(&text, &policy), decide(&text, &wider));
        prop_assert!(strictness(&after) <= strictness(&before), "{before:?}\n{after:?}");
    }

    #[test]
    fn more_rules_never_allow_more(text in command(), policy in policies(), other in rules()) {
        let mut tighter = policy.clone();
        tighter.rules = policy.rules.and(other);
        let (before, after) = (decide(&text, &policy), decide(&text, &tighter));
        if policy.rules.mode == tighter.rules.mode {
            prop_assert!(strictness(&before) != 1 || strictness(&after) != 0, "{before:?}\n{after:?}");
        }
        let before = before.without_a_person(&policy.rules);
        let after = after.without_a_person(&tighter.rules);
        prop_assert!(strictness(&after) >= strictness(&before), "{before:?}\n{after:?}");
        prop_assert_ne!(strictness(&after), 1);
    }

    #[test]
    fn rules_are_joined_in_any_order_and_only_tighten(one in rules(), two in rules(), three in rules()) {
        prop_assert_eq!(one.and(two), two.and(one));
        prop_assert_eq!(one.and(two).and(three), one.and(two.and(three)));
        let joined = one.and(two);
        prop_assert_eq!(joined.and(one), joined);
        prop_assert_eq!(joined.and(joined), joined);
        prop_assert!(joined.mode <= one.mode && joined.ask <= one.ask && joined.fallback <= one.fallback);
        prop_assert!(joined.fallback <= joined.mode);
    }

    #[test]
    fn a_command_of_any_words_is_judged(words in prop::collection::vec("\\PC{0,6}|.{0,3}", 1..6), policy in policies()) {
        let text = words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
        let _any = decide(&text, &policy);
    }
}
