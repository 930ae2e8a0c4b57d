//! What may be listed, what a list names, and which addresses are public.

use std::net::IpAddr;

use super::super::address::is_global;
use super::super::target::Target;
use super::allow;

fn read(entry: &str) -> String {
    match allow(&[entry]) {
        Ok(_) => "usable".to_owned(),
        Err(error) => format!("{error}: {}", error.fault),
    }
}

/// Which of the targets the list names.
fn named(list: &[&str], targets: &[&str]) -> String {
    let list = allow(list).unwrap();
    let is_named = |text: &&&str| list.names(&Target::parse(text, None).unwrap());
    targets.iter().filter(is_named).copied().collect::<Vec<_>>().join(" ")
}

#[test]
fn names_addresses_and_what_is_below_a_domain_can_be_listed() {
    for entry in ["example.com:443", "EXAMPLE.com.:1", "*.example.com:443", "192.0.2.7:65535"] {
        assert_eq!(read(entry), "usable", "{entry}");
    }
    for entry in ["[2001:db8::7]:80", "localhost:8080", "a_b.xn--bcher-kva.example:80"] {
        assert_eq!(read(entry), "usable", "{entry}");
    }
}

#[test]
fn what_cannot_be_listed_is_named_with_the_reason() {
    let entries = [
        "example.com",
        "example.com:*",
        "example.com:0",
        "example.com:65536",
        "example.com:+443",
        "example.com:0443",
        "https://example.com:443",
        "example.com:443/path",
        "me@example.com:443",
        "bücher.example:443",
        "*:443",
        "*.com:443",
        "a.*.com:443",
        "*.0.0.1:443",
        "*.example.com:*",
        "127.1:80",
        "0x7f.1:80",
        "2130706433:80",
        "0177.0.0.1:80",
        "127.0.0.1.:80",
        "1.2.3.4.5:80",
        "::1:80",
        "[::1%lo]:80",
        "[::1:80",
        "a..b:80",
        ":80",
        "",
        "a b:80",
        "a\u{1b}[31m:80",
    ];
    let lines = entries.map(|entry| read(entry) + "\n").concat();
    insta::assert_snapshot!(lines, @r"
    `example.com` is not an address that can be allowed: its port is not a number from 1 to 65535
    `example.com:*` is not an address that can be allowed: its port is not a number from 1 to 65535
    `example.com:0` is not an address that can be allowed: its port is not a number from 1 to 65535
    `example.com:65536` is not an address that can be allowed: its port is not a number from 1 to 65535
    `example.com:+443` is not an address that can be allowed: its port is not a number from 1 to 65535
    `example.com:0443` is not an address that can be allowed: its port is not a number from 1 to 65535
    `https://example.com:443` is not an address that can be allowed: it has a scheme or a path where only `host:port` may stand
    `example.com:443/path` is not an address that can be allowed: it has a scheme or a path where only `host:port` may stand
    `me@example.com:443` is not an address that can be allowed: it has a user name
    `b\xc3\xbccher.example:443` is not an address that can be allowed: letters outside ASCII are not understood; write the name in its `xn--` form
    `*:443` is not an address that can be allowed: a `*` may only stand before a domain, as in `*.example.com:443`
    `*.com:443` is not an address that can be allowed: a `*` may only stand before a domain, as in `*.example.com:443`
    `a.*.com:443` is not an address that can be allowed: a `*` may only stand before a domain, as in `*.example.com:443`
    `*.0.0.1:443` is not an address that can be allowed: a `*` may only stand before a domain, as in `*.example.com:443`
    `*.example.com:*` is not an address that can be allowed: its port is not a number from 1 to 65535
    `127.1:80` is not an address that can be allowed: it ends in a number, but is not an IPv4 address of four plain numbers
    `0x7f.1:80` is not an address that can be allowed: it ends in a number, but is not an IPv4 address of four plain numbers
    `2130706433:80` is not an address that can be allowed: it ends in a number, but is not an IPv4 address of four plain numbers
    `0177.0.0.1:80` is not an address that can be allowed: it ends in a number, but is not an IPv4 address of four plain numbers
    `127.0.0.1.:80` is not an address that can be allowed: it ends in a number, but is not an IPv4 address of four plain numbers
    `1.2.3.4.5:80` is not an address that can be allowed: it ends in a number, but is not an IPv4 address of four plain numbers
    `::1:80` is not an address that can be allowed: its host is not a name, an IPv4 address, or an IPv6 address in brackets
    `[::1%lo]:80` is not an address that can be allowed: its host is not a name, an IPv4 address, or an IPv6 address in brackets
    `[::1:80` is not an address that can be allowed: its host is not a name, an IPv4 address, or an IPv6 address in brackets
    `a..b:80` is not an address that can be allowed: its host is not a name, an IPv4 address, or an IPv6 address in brackets
    `:80` is not an address that can be allowed: its host is not a name, an IPv4 address, or an IPv6 address in brackets
    `` is not an address that can be allowed: its port is not a number from 1 to 65535
    `a b:80` is not an address that can be allowed: its host is not a name, an IPv4 address, or an IPv6 address in brackets
    `a\x1b[31m:80` is not an address that can be allowed: its host is not a name, an IPv4 address, or an IPv6 address in brackets
    ");
}

#[test]
fn a_list_has_a_bound() {
    let many = vec!["a.example:1"; 1001];
    assert_eq!(allow(&many[..1000]).map(drop), Ok(()));
    insta::assert_snapshot!(allow(&many).unwrap_err().fault, @"there are too many entries before it");
}

#[test]
fn case_and_a_dot_at_the_end_do_not_matter() {
    insta::assert_snapshot!(
        named(&["Example.COM:443"], &["example.com:443", "EXAMPLE.com.:443", "example.com:80"]),
        @"example.com:443 EXAMPLE.com.:443"
    );
}

#[test]
fn a_star_is_for_sub_domains_only() {
    insta::assert_snapshot!(
        named(
            &["*.example.com:443"],
            &["example.com:443", "a.example.com:443", "a.b.EXAMPLE.com.:443", "aexample.com:443",
              "a.example.com:80", "a.example.com.evil.example:443", "1.2.3.4:443"],
        ),
        @"a.example.com:443 a.b.EXAMPLE.com.:443"
    );
}

#[test]
fn addresses_are_compared_as_such() {
    insta::assert_snapshot!(
        named(
            &["192.0.2.7:80", "[2001:db8::7]:80"],
            &["192.0.2.7:80", "[2001:DB8:0::0007]:80", "[::ffff:192.0.2.7]:80", "192.0.2.70:80"],
        ),
        @"192.0.2.7:80 [2001:DB8:0::0007]:80"
    );
}

#[test]
fn an_empty_list_names_nothing() {
    assert_eq!(named(&[], &["localhost:80", "example.com:443"]), "");
}

#[test]
fn only_public_addresses_are_global() {
    let global = [
        "1.1.1.1",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "198.20.0.1",
        "223.255.255.255",
        "2606:4700::1111",
        "2001:4860::8888",
        "64:ff9b::808:808",
        "2002:808:808::1",
        "2001:200::1",
        "3fff:1000::1",
    ];
    for address in global {
        assert!(is_global(address.parse::<IpAddr>().unwrap()), "{address}");
    }
    let special = [
        "0.0.0.0",
        "0.1.2.3",
        "10.1.2.3",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.1.2.3",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:8.8.8.8",
        "::ffff:127.0.0.1",
        "fc00::1",
        "fdff::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "3fff::1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::808:808",
        "2002:7f00:1::1",
        "2002:a00:1::1",
        "5f00::1",
        "4000::1",
    ];
    for address in special {
        assert!(!is_global(address.parse::<IpAddr>().unwrap()), "{address}");
    }
}
