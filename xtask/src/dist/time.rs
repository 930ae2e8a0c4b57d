//! The time that everything in a release has: that of the commit, or what `SOURCE_DATE_EPOCH` says.

use anyhow::{Context, Result, ensure};

use crate::project::{Project, output};

/// The variable by which those who build packages say it.
const VARIABLE: &str = "SOURCE_DATE_EPOCH";

/// Seconds since 1970.
pub(super) fn of(project: &Project) -> Result<u64> {
    if let Some(seconds) = project.variable(VARIABLE) {
        let seconds = seconds.to_string_lossy().into_owned();
        return seconds.parse().with_context(|| format!("`{VARIABLE}={seconds}` is no time"));
    }
    let mut git = project.command("git");
    git.args(["log", "-1", "--format=%ct"]);
    let seconds =
        output(git).with_context(|| format!("no commit tells the time; set `{VARIABLE}`"))?;
    let seconds = seconds.trim();
    ensure!(!seconds.is_empty(), "there is no commit yet; set `{VARIABLE}`");
    seconds.parse().with_context(|| format!("`git log` said `{seconds}`, which is no time"))
}

/// The time as changelogs of Debian have it, in UTC.
pub(super) fn of_changelog(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let weekday = WEEKDAYS[(days % 7) as usize];
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    let month = MONTHS[month].0;
    format!("{weekday}, {day:02} {month} {year} {hour:02}:{minute:02}:{second:02} +0000")
}

/// From the first of January 1970 on.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [(&str, u64); 12] = [
    ("Jan", 31),
    ("Feb", 28),
    ("Mar", 31),
    ("Apr", 30),
    ("May", 31),
    ("Jun", 30),
    ("Jul", 31),
    ("Aug", 31),
    ("Sep", 30),
    ("Oct", 31),
    ("Nov", 30),
    ("Dec", 31),
];

/// Year, month from zero, and day from one.
fn date(mut days: u64) -> (u64, usize, u64) {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 0;
    loop {
        let length = MONTHS[month].1 + u64::from(month == 1 && is_leap(year));
        if days < length {
            return (year, month, days + 1);
        }
        days -= length;
        month += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn days_are_counted_through_leap_years() {
        let shown = [0, 951_782_399, 951_782_400, 1_709_164_800, 1_767_225_599, 4_107_542_400]
            .map(of_changelog)
            .join("\n");
        insta::assert_snapshot!(shown, @"
        Thu, 01 Jan 1970 00:00:00 +0000
        Mon, 28 Feb 2000 23:59:59 +0000
        Tue, 29 Feb 2000 00:00:00 +0000
        Thu, 29 Feb 2024 00:00:00 +0000
        Wed, 31 Dec 2025 23:59:59 +0000
        Mon, 01 Mar 2100 00:00:00 +0000
        ");
    }

    #[test]
    fn a_variable_decides_and_one_that_is_no_number_is_refused() {
        let mut project = Project::at("/nowhere".into(), OsString::new());
        project.set(VARIABLE, "1700000000");
        assert_eq!(of(&project).unwrap(), 1_700_000_000);
        project.set(VARIABLE, "yesterday");
        insta::assert_snapshot!(of(&project).unwrap_err(), @"`SOURCE_DATE_EPOCH=yesterday` is no time");
    }
}
