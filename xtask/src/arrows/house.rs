//! The table of the house: every crate, and what it may depend on.
//!
//! The drawing is in `docs/architecture.md`; the table is what is enforced. A
//! new crate is a decision about where it stands, so it begins as a line here.

/// A crate and what it may depend on. Crates go by the name of their folder: `cli` is the package
/// `metier`, `skill` is `metier-skill`.
pub(super) struct Crate {
    pub(super) name: &'static str,
    pub(super) role: Role,
}

/// What a crate is in the house.
pub(super) enum Role {
    /// Part of the product. It uses these crates and no others.
    Shipped { uses: &'static [&'static str] },
    /// For tests: free to use any shipped crate, and used only by tests and other exempt crates.
    ForTests,
    /// A program for developers: free to use any crate, used by nobody.
    Tool,
}

const fn shipped(name: &'static str, uses: &'static [&'static str]) -> Crate {
    Crate { name, role: Role::Shipped { uses } }
}

/// The house, from the top down.
pub(super) const HOUSE: &[Crate] = &[
    // The binary puts everything together, so it may use anything below it.
    shipped(
        "cli",
        &[
            "serve",
            "app",
            "mcp",
            "agent",
            "model",
            "workspace",
            "skill",
            "approval",
            "session",
            "sandbox",
            "clients",
            "telemetry",
            "net",
            "secrets",
            "config",
        ],
    ),
    // Everything a front end can ask for: it puts the crates below together, and speaks to nobody.
    shipped(
        "app",
        &[
            "mcp",
            "agent",
            "model",
            "workspace",
            "skill",
            "approval",
            "session",
            "sandbox",
            "net",
            "secrets",
            "config",
        ],
    ),
    shipped(
        "serve",
        &["mcp", "agent", "model", "workspace", "skill", "session", "sandbox", "net", "secrets"],
    ),
    // The client of the protocol, and the types that the server shares: nothing that is known of skills or agents.
    shipped("mcp", &["sandbox", "net"]),
    shipped(
        "agent",
        &["model", "workspace", "skill", "approval", "session", "sandbox", "net", "secrets"],
    ),
    shipped("model", &["net"]),
    // Files of other agents are written the way ours are, and their YAML is read by the one reader there is.
    shipped("clients", &["skill", "config"]),
    // Everybody makes spans with `tracing`; who sends them is known to the binary alone.
    shipped("telemetry", &["net", "secrets"]),
    // Which variables load code is known to one table, for whoever judges commands and for whoever runs them.
    shipped("workspace", &["approval", "sandbox", "secrets"]),
    // These do not know each other: one asks, one judges, one enforces, and `agent` decides.
    shipped("skill", &[]),
    shipped("approval", &[]),
    shipped("session", &[]),
    shipped("sandbox", &[]),
    shipped("net", &[]),
    shipped("config", &[]),
    shipped("secrets", &[]),
    Crate { name: "testkit", role: Role::ForTests },
    Crate { name: "bench", role: Role::Tool },
    Crate { name: "examples", role: Role::Tool },
    Crate { name: "xtask", role: Role::Tool },
];

/// The entry of a package in the table.
pub(super) fn place(package: &str) -> Option<&'static Crate> {
    let name = match package {
        "metier" => "cli",
        _ => package.strip_prefix("metier-").unwrap_or(package),
    };
    HOUSE.iter().find(|entry| entry.name == name)
}
