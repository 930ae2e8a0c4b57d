//! How long a server asks us to wait before the next request.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a server asks us to wait: milliseconds, seconds or a date.
pub(crate) fn asked<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    if let Some(milliseconds) = header("retry-after-ms").and_then(number) {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    let value = header("retry-after")?;
    if let Some(seconds) = number(value) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    // The server's own clock is the one its date is about.
    let now = header("date").and_then(date).unwrap_or_else(now);
    Some(Duration::from_secs(date(value)?.saturating_sub(now)))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<_> = text.split_once(',')?.1.split_whitespace().collect();
    let [day, month, year, time, "GMT"] = words.as_slice() else { return None };
    let (day, year): (u64, u64) = (day.parse().ok()?, year.parse().ok()?);
    let month = MONTHS.iter().position(|name| name == month)? as u64 + 1;
    let mut clock = time.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if !(1970..10_000).contains(&year) || !(1..=31).contains(&day) {
        return None;
    }
    // A leap second is the 60th.
    if hour > 23 || minute > 59 || second > 60 || clock.next().is_some() {
        return None;
    }
    // Years begin in March here, so that the leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some((days - 719_468) * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked_by(headers: &[(&str, &'static str)]) -> Option<Duration> {
        asked(|wanted| headers.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value))
    }

    #[test]
    fn seconds_milliseconds_and_dates_are_read() {
        assert_eq!(date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(date("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
        assert_eq!(date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        let cases: [(&[(&str, &'static str)], _); 8] = [
            (&[("retry-after", "7")], Some(7000)),
            (&[("retry-after", "0.5")], Some(500)),
            (&[("retry-after", "7"), ("retry-after-ms", "250")], Some(250)),
            (
                &[
                    ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"),
                    ("date", "Sun, 06 Nov 1994 08:49:07 GMT"),
                ],
                Some(30_000),
            ),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(0)),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "soon")], None),
            (&[], None),
        ];
        for (headers, expected) in cases {
            assert_eq!(asked_by(headers), expected.map(Duration::from_millis), "{headers:?}");
        }
    }

    #[test]
    fn what_no_clock_shows_is_no_date() {
        assert_eq!(date("Sat, 31 Dec 2016 23:59:60 GMT"), Some(1_483_228_800));
        let most = u64::MAX;
        for time in ["24:00:00", "00:60:00", "00:00:61", "1:2", "1:2:3:4", &format!("0:{most}:0")] {
            assert_eq!(date(&format!("Sat, 31 Dec 2016 {time} GMT")), None, "{time}");
        }
    }
}
