//! `metier mcp install --list`.

use super::clients::{CLIENTS, Client};
use super::{file, format};
use crate::args::Scope;
use crate::context::Context;
use crate::output::{Align, Column, Table, plain, style};
use crate::roots::Project;

/// Shows each client, its file, and whether this server is in it.
pub(super) fn run(name: &str, context: &Context) {
    let column = |heading| Column { heading, align: Align::Left, fills: false };
    let columns = [column("CLIENT"), column("SERVER"), column("SCOPE"), column("FILE")];
    let mut table = Table::new(&columns);
    let root = Project::of(&context.environment.folder).root;
    for client in CLIENTS {
        for scope in [Scope::User, Scope::Project] {
            let Some(file) = client.file(scope, &context.environment, &root) else { continue };
            let state = state(client, name, &file);
            let look = if state == "installed" { style::GOOD } else { style::DIM };
            table.row(vec![
                (style::NAME, client.name.id().to_owned()),
                (look, state.to_owned()),
                (style::DIM, scope.id().to_owned()),
                (style::DIM, plain(&file.display().to_string())),
            ]);
        }
    }
    context.output.print(&table.render(context.output.width()));
}

fn state(client: &Client, name: &str, file: &std::path::Path) -> &'static str {
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
