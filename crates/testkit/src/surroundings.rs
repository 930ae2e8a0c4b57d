//! The tests of a binary once more, with less of what the system offers: without namespaces, without control
//! groups, as another user.
//!
//! Only root can take such things away. What a process has then is what it would have elsewhere: in a container that
//! forbids namespaces, in a session of a user to whom no control group was delegated.

use std::fmt;
use std::process::Command;

use crate::user::{again, as_root_of_a_container, ordinary_user, run, without_calls};

/// The variable that tells a process what it was left.
const VARIABLE: &str = "METIER_TEST_SURROUNDINGS";

/// Runs a command without control groups, or, as somebody else, in a group of which that user may make others.
///
/// Called as root in a mount namespace of its own, with the user's number, `yes` or `no`, and the command.
const PREPARE: &str = r#"
user=$1 groups=$2; shift 2
root=/sys/fs/cgroup made= back=
fail() { echo "cannot prepare: $1" >&2; exit 99; }
group() { # its folder, the file through which a process leaves it again
    mkdir "$1" && chown -R "$user:$user" "$1" || fail "$1"
    made="$1 $made" back="$2 $back"
}
if [ "$groups" = no ]; then
    mount -t tmpfs -o ro none $root || fail "a file system over $root"
elif [ "$user" != 0 ] && [ -e $root/cgroup.controllers ]; then
    top=$root/metier-test-$$
    echo "+memory +pids" > $root/cgroup.subtree_control
    mkdir $top && echo "+memory +pids" > $top/cgroup.subtree_control || fail $top
    made=$top
    group $top/own "$root$(sed -n 's/^0:://p' /proc/self/cgroup)/cgroup.procs"
    chown -R "$user:$user" $top
    echo $$ > $top/own/cgroup.procs || fail "to join $top"
elif [ "$user" != 0 ]; then
    for controller in memory pids; do
        path=$(awk -F: -v it=$controller '$2 ~ "(^|,)" it "(,|$)" { print $3 }' /proc/self/cgroup)
        above=$root/$controller${path%/}
        group $above/metier-test-$$ $above/tasks
        echo $$ > $above/metier-test-$$/tasks || fail "to join $above"
    done
fi
"$@"
code=$?
for door in $back; do echo $$ > $door; done
for folder in $made; do rmdir $folder; done
exit $code
"#;

/// Who runs tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestUser {
    /// Root; without namespaces it has the rights of root in a container.
    Root,
    /// Somebody to whom nothing belongs.
    Ordinary,
}

/// Who runs the tests of a binary, and what the system offers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Who runs them.
    pub user: TestUser,
    /// Whether namespaces can be made.
    pub has_namespaces: bool,
    /// Whether control groups can be made.
    pub has_groups: bool,
}

impl Surroundings {
    /// All there are: each user, with and without each thing.
    pub fn all() -> impl Iterator<Item = Self> {
        [TestUser::Root, TestUser::Ordinary].into_iter().flat_map(|user| {
            [(true, true), (true, false), (false, true), (false, false)]
                .map(|(has_namespaces, has_groups)| Self { user, has_namespaces, has_groups })
        })
    }

    /// What this process was left, if something was taken away from it.
    pub fn here() -> Option<Self> {
        let name = std::env::var(VARIABLE).ok()?;
        Self::all().find(|it| it.to_string() == name)
    }

    /// Runs those tests of this binary whose names contain a text in these surroundings; only root can.
    ///
    /// # Errors
    ///
    /// With what the tests wrote, when one failed or there was none.
    pub fn run(self, tests: &str) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let again = again(folder.path()).map_err(|error| error.to_string())?;
        let user = match self.user {
            TestUser::Root => 0,
            TestUser::Ordinary => ordinary_user(),
        };
        let groups = if self.has_groups { "yes" } else { "no" };
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", PREPARE, "prepare"]);
        command.args([user.to_string().as_str(), groups]);
        if user != 0 {
            command.args(["setpriv", "--reuid", &user.to_string(), "--regid", &user.to_string()]);
            command.arg("--clear-groups");
        } else if !self.has_namespaces {
            command.args(as_root_of_a_container());
        }
        if user != 0 && !self.has_namespaces {
            command.args(without_calls(&["unshare"]));
        }
        command.arg(again.get_program()).args(again.get_args()).arg(tests);
        command.env_clear().envs(again.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env(VARIABLE, self.to_string()).current_dir(folder.path());
        let text = run(&mut command)?;
        if text.contains("running 0 tests") { Err(text) } else { Ok(()) }
    }
}

impl fmt::Display for Surroundings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = match self.user {
            TestUser::Root => "root",
            TestUser::Ordinary => "ordinary_user",
        };
        let level = if self.has_namespaces { "full" } else { "landlock" };
        let groups = if self.has_groups { "with" } else { "without" };
        write!(formatter, "{level}_as_{user}_{groups}_a_control_group")
    }
}
