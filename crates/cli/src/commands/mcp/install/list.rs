//! `metier mcp install --list`.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::clients::{CLIENTS, Client};
use super::{file, format};
use crate::args::{InstallClientArgs, Scope};
use crate::context::Context;
use crate::output::{Align, Column, Table, path_text, plain, style};
use crate::roots::Project;

/// Shows each client, its file, and whether this server is in it.
pub(super) fn run(arguments: &InstallClientArgs, context: &Context) {
    let rows = rows(&arguments.name, context);
    if arguments.json {
        context.output.json(&rows);
        return;
    }
    let column = |heading| Column { heading, align: Align::Left, fills: false };
    let columns = [column("CLIENT"), column("SERVER"), column("SCOPE"), column("FILE")];
    let mut table = Table::new(&columns);
    for Row { client, server, scope, file } in rows {
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
struct Row {
    client: &'static str,
    server: &'static str,
    scope: &'static str,
    #[serde(serialize_with = "path_text")]
    file: PathBuf,
}

fn rows(name: &str, context: &Context) -> Vec<Row> {
    let root = Project::of(&context.environment.folder).root;
    let mut rows = Vec::new();
    for client in CLIENTS {
        for scope in [Scope::User, Scope::Project] {
            let Some(file) = client.file(scope, &context.environment, &root) else { continue };
            let server = state(client, name, &file);
            rows.push(Row { client: client.name.id(), server, scope: scope.id(), file });
        }
    }
    rows
}

fn state(client: &Client, name: &str, file: &Path) -> &'static str {
    let text = match file::read(file) {
        Ok(Some(text)) => text,
        Ok(None) => return "no file",
        Err(_) => return "unreadable",
    };
    match client.format.read(&text) {
        Some(document) if format::find(&document, &client.place(&document, name)).is_some() => {
            "installed"
        }
        Some(_) => "not there",
        None => "unreadable",
    }
}
