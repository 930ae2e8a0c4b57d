//! `metier mcp install --list`.

use std::path::PathBuf;

use metier_clients::{ClientFileStatus, ClientHost, EntryState};
use serde::Serialize;

use crate::args::InstallClientArgs;
use crate::context::Context;
use crate::output::{Align, Column, Table, path_text, plain, style};

/// Shows each client, its file, and whether this server is in it.
pub(super) fn run(arguments: &InstallClientArgs, host: &ClientHost<'_>, context: &Context) {
    let rows: Vec<ClientStatusRow> = ClientFileStatus::of_all(&arguments.name, host)
        .into_iter()
        .map(ClientStatusRow::of)
        .collect();
    if arguments.json {
        context.output.json(&rows);
        return;
    }
    let column = |heading| Column { heading, align: Align::Left, fills: false };
    let columns = [column("CLIENT"), column("SERVER"), column("SCOPE"), column("FILE")];
    let mut table = Table::new(&columns);
    for ClientStatusRow { client, server, scope, file } in rows {
        let look = if server == "installed" { style::GOOD } else { style::DIM };
        table.row(vec![
            (style::NAME, client.to_owned()),
            (look, server.to_owned()),
            (style::DIM, scope.to_owned()),
            (style::DIM, plain(&file.display().to_string())),
        ]);
    }
    context.output.print(&table.render(context.output.width()));
}

/// A file of a client, and whether this server is in it.
#[derive(Debug, Serialize)]
struct ClientStatusRow {
    client: &'static str,
    server: &'static str,
    scope: &'static str,
    #[serde(serialize_with = "path_text")]
    file: PathBuf,
}

impl ClientStatusRow {
    fn of(status: ClientFileStatus) -> Self {
        let server = match status.state {
            EntryState::Present => "installed",
            EntryState::Absent => "not there",
            EntryState::NoFile => "no file",
            EntryState::Unreadable => "unreadable",
        };
        Self { client: status.client.id, server, scope: status.scope.id(), file: status.path }
    }
}
