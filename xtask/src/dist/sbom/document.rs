//! The list as a document of CycloneDX.

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::embedded::Embedded;
use super::tree::{Crate, Id, Tree};
use crate::dist::sums::sha256;

/// Writes the list.
pub(in crate::dist) fn document(
    tree: &Tree,
    embedded: &[Embedded],
    target: &str,
) -> Result<String> {
    let root = tree.crates.get(&tree.root).context("the tree has no root")?;
    let mut application = library(&tree.root, root);
    application["type"] = "application".into();
    let mut components: Vec<Value> = tree
        .crates
        .iter()
        .filter(|(id, _)| **id != tree.root)
        .map(|(id, known)| library(id, known))
        .collect();
    components.extend(embedded.iter().map(other));
    let mut document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": "",
        "version": 1,
        "metadata": {
            "lifecycles": [{ "phase": "build" }],
            "component": application,
            "properties": [{ "name": "metier:target", "value": target }],
        },
        "components": components,
        "dependencies": dependencies(tree, embedded),
    });
    document["serialNumber"] = serial(&document.to_string()).into();
    Ok(format!("{document:#}\n"))
}

fn library(id: &Id, known: &Crate) -> Value {
    let mut component = component("library", id, &known.license);
    component.insert("purl".into(), reference(id).into());
    if let Some(digest) = &known.digest {
        component.insert("hashes".into(), hashes(digest));
    }
    component.insert("bom-ref".into(), reference(id).into());
    component.into()
}

fn other(it: &Embedded) -> Value {
    let id = (it.name.clone(), it.version.clone());
    let mut component = component(it.kind, &id, it.license);
    component.insert("purl".into(), it.purl.clone().into());
    if let Some(copyright) = it.copyright {
        component.insert("copyright".into(), copyright.into());
    }
    if let Some(cpe) = &it.cpe {
        component.insert("cpe".into(), cpe.clone().into());
    }
    if let Some(digest) = &it.digest {
        component.insert("hashes".into(), hashes(digest));
    }
    component.insert("bom-ref".into(), it.purl.clone().into());
    component.into()
}

fn component(kind: &str, (name, version): &Id, license: &str) -> Map<String, Value> {
    let fields = json!({
        "type": kind,
        "name": name,
        "version": version,
        "licenses": [{ "expression": license }],
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn hashes(digest: &str) -> Value {
    json!([{ "alg": "SHA-256", "content": digest }])
}

/// Who uses whom; every component has a line, even if it uses nothing.
fn dependencies(tree: &Tree, embedded: &[Embedded]) -> Value {
    let of_crate = |(id, known): (&Id, &Crate)| {
        let brought = embedded.iter().filter(|it| it.user == *id).map(|it| it.purl.clone());
        let mut uses: Vec<String> = known.uses.iter().map(reference).chain(brought).collect();
        uses.sort();
        json!({ "ref": reference(id), "dependsOn": uses })
    };
    let mut all: Vec<Value> = tree.crates.iter().map(of_crate).collect();
    all.extend(embedded.iter().map(|it| json!({ "ref": it.purl, "dependsOn": [] })));
    all.into()
}

/// The package URL of a crate. In versions `+` is the one sign that has to be written otherwise.
fn reference((name, version): &Id) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

/// A number of the kind that those who make it define (UUID version 8), from the first bytes of a digest.
fn serial(content: &str) -> String {
    let digest = sha256(content.as_bytes());
    let variant = match digest.as_bytes()[16] {
        b'0'..=b'3' => '8',
        b'4'..=b'7' => '9',
        b'8'..=b'9' | b'a'..=b'b' => 'a',
        _ => 'b',
    };
    format!(
        "urn:uuid:{}-{}-8{}-{variant}{}-{}",
        &digest[..8],
        &digest[8..12],
        &digest[13..16],
        &digest[17..20],
        &digest[20..32]
    )
}
