//! Making the container of a workspace ready: found, started again, or made anew.

use bollard::models::ContainerInspectResponse;
use bollard::query_parameters::{
    ContainerArchiveInfoOptionsBuilder, CreateContainerOptionsBuilder, StartContainerOptions,
};
use metier_sandbox::unprivileged_owner;
use rustix::process::{getegid, geteuid};

use super::engine::{Engine, is_missing, is_running};
use super::error::{ContainerError, while_it};
use super::hold::Last;
use super::image::Image;
use super::outside::Outside;
use super::recipe::{MADE_OF, Recipe, SHELL};

/// The shell most images have.
const GUESS: &str = "/bin/bash";
/// Where shells are, besides the `PATH` of the image.
const FOLDERS: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];

/// A container that runs and in which nothing else does.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) id: String,
    pub(super) shell: String,
    /// What can be seen of it without asking it, if anything can.
    pub(super) outside: Option<Outside>,
}

/// Makes the container for a recipe ready.
pub(super) async fn ready(
    engine: &Engine,
    recipe: &Recipe,
    image: &Image,
    (name, last): (&str, Last),
) -> Result<Ready, ContainerError> {
    if let Some(found) = engine.container(name).await? {
        if let Some(mut ready) = fitting(&found, &recipe.digest()) {
            let runs = is_running(&found);
            if runs && last == Last::Unknown {
                engine.kill(&ready.id).await?;
            }
            if (runs && last == Last::Over) || start(engine, &mut ready).await.is_ok() {
                return Ok(ready);
            }
        }
        engine.remove(name).await?;
    }
    let mut ready = make(engine, recipe, image, name).await?;
    start(engine, &mut ready).await?;
    Ok(ready)
}

/// The container, if it was made by the recipe with the digest.
fn fitting(found: &ContainerInspectResponse, digest: &str) -> Option<Ready> {
    let labels = found.config.as_ref()?.labels.as_ref()?;
    let fits = labels.get(MADE_OF).is_some_and(|made_of| made_of == digest);
    let (id, shell) = (found.id.clone()?, labels.get(SHELL)?.clone());
    let outside = seen(&id, found);
    fits.then_some(Ready { id, shell, outside })
}

/// What can be seen of a container from outside.
fn seen(id: &str, found: &ContainerInspectResponse) -> Option<Outside> {
    Outside::find(id, found.state.as_ref()?.pid?)
}

async fn start(engine: &Engine, ready: &mut Ready) -> Result<(), ContainerError> {
    let started = engine.docker.start_container(&ready.id, None::<StartContainerOptions>).await;
    started.map_err(while_it("start the container"))?;
    let found = engine.container(&ready.id).await?;
    ready.outside = found.and_then(|found| seen(&ready.id, &found));
    Ok(())
}

async fn make(
    engine: &Engine,
    recipe: &Recipe,
    image: &Image,
    name: &str,
) -> Result<Ready, ContainerError> {
    let user = user(engine).await?;
    let create = async |shell: &str| {
        let options = CreateContainerOptionsBuilder::default().name(name).build();
        let made = engine.docker.create_container(Some(options), recipe.body(&user, shell)).await;
        made.map(|made| made.id).map_err(while_it("make the container"))
    };
    let id = create(GUESS).await?;
    let shell = find_shell(engine, image, &id).await;
    if shell.as_deref() == Some(GUESS) {
        return Ok(Ready { id, shell: GUESS.to_owned(), outside: None });
    }
    engine.remove(&id).await?;
    let shell = shell.ok_or_else(|| ContainerError::NoShell { image: recipe.image.clone() })?;
    Ok(Ready { id: create(&shell).await?, shell, outside: None })
}

/// Who programs are: nobody when we are root, else ourselves. In the containers of an engine that
/// runs as an ordinary user, that user is called root.
async fn user(engine: &Engine) -> Result<String, ContainerError> {
    if engine.is_rootless().await? {
        return Ok("0:0".to_owned());
    }
    let ourselves = (geteuid().as_raw(), getegid().as_raw());
    let (user, group) = unprivileged_owner().unwrap_or(ourselves);
    Ok(format!("{user}:{group}"))
}

/// The best shell of an image, by a look into a container made of it.
async fn find_shell(engine: &Engine, image: &Image, container: &str) -> Option<String> {
    let folders = || FOLDERS.into_iter().chain(image.path.iter().map(String::as_str));
    for name in ["bash", "sh"] {
        for folder in folders() {
            let path = format!("{folder}/{name}");
            let options = ContainerArchiveInfoOptionsBuilder::default().path(&path).build();
            let seen = engine.docker.get_container_archive_info(container, Some(options)).await;
            if !is_missing(&seen) {
                return Some(path);
            }
        }
    }
    None
}
