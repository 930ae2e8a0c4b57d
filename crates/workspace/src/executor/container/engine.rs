//! The engine: where it listens, and the few things it is asked.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use bollard::errors::Error;
use bollard::models::{ContainerInspectResponse, ContainerSummary};
use bollard::query_parameters::{
    CreateImageOptionsBuilder, InspectContainerOptions, KillContainerOptionsBuilder,
    ListContainersOptionsBuilder, RemoveContainerOptionsBuilder, StatsOptionsBuilder, TopOptions,
};
use bollard::{API_DEFAULT_VERSION, ClientVersion, Docker};
use futures_util::{StreamExt, TryStreamExt, future};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

use super::error::{ContainerError, while_it};
use super::image::{Image, check_name};
use super::pull::{Fetching, Told};
use super::run::Pull;

/// How long an engine may take to answer, in seconds.
const PATIENCE: u64 = 120;
/// How long one may take to say what it is.
const FIRST_PATIENCE: Duration = Duration::from_secs(10);
/// How long a killed container may take to be gone.
const DEATH: Duration = Duration::from_secs(10);
/// Between two looks at a container that is about to be gone.
const PAUSE: Duration = Duration::from_millis(10);

/// An engine that answers.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) docker: Docker,
    nature: Nature,
}

/// What an engine says it is.
#[derive(Clone, Debug)]
pub(super) struct Nature {
    address: String,
    /// The version of the API that both of us know.
    version: ClientVersion,
    is_podman: bool,
}

impl Nature {
    /// Asks what listens at an address; what does not answer like an engine is none.
    async fn ask(address: &str, patience: Duration) -> Result<Self, ContainerError> {
        let docker = client(address, API_DEFAULT_VERSION)?;
        let said = timeout(patience, docker.version()).await.ok().and_then(Result::ok);
        let said = said.and_then(|said| Some((said.api_version?, said.components)));
        let Some((version, parts)) = said else {
            return Err(ContainerError::Stranger { address: address.to_owned() });
        };
        let parts = parts.unwrap_or_default();
        Ok(Self {
            address: address.to_owned(),
            version: common_version(&version),
            is_podman: parts.iter().any(|part| part.name.contains("Podman")),
        })
    }
}

fn client(address: &str, version: &ClientVersion) -> Result<Docker, ContainerError> {
    Docker::connect_with_unix(address, PATIENCE, version).map_err(while_it("be reached"))
}

/// The newest version of the API that an engine and we know; an engine that does not say gets ours.
fn common_version(theirs: &str) -> ClientVersion {
    let ours = *API_DEFAULT_VERSION;
    let numbers = theirs.split_once('.').and_then(|(major, minor)| {
        Some(ClientVersion {
            major_version: major.parse().ok()?,
            minor_version: minor.parse().ok()?,
        })
    });
    numbers.filter(|theirs| *theirs < ours).unwrap_or(ours)
}

impl Engine {
    /// The engine at an address, or the first that listens at a usual place. What it is will be known
    /// next time: Podman takes half a second to say so.
    pub(super) async fn connect(
        address: Option<&str>,
        known: &OnceLock<Nature>,
    ) -> Result<Self, ContainerError> {
        let socket = match address {
            Some(address) => named(address)?,
            None => usual().await?,
        };
        let address = format!("unix://{}", socket.display());
        let unreachable = |source| ContainerError::Unreachable { address: address.clone(), source };
        UnixStream::connect(&socket).await.map_err(unreachable)?;
        let nature = match known.get().filter(|nature| nature.address == address) {
            Some(nature) => nature.clone(),
            None => {
                let nature = Nature::ask(&address, FIRST_PATIENCE).await?;
                // Somebody else may have been faster, or it has moved.
                let _kept = known.set(nature.clone());
                nature
            }
        };
        Ok(Self { docker: client(&address, &nature.version)?, nature })
    }

    /// An image, fetched if that is wanted.
    pub(super) async fn image(
        &self,
        name: &str,
        pull: Pull,
        told: &Told,
    ) -> Result<Image, ContainerError> {
        check_name(name)?;
        let mut found = self.docker.inspect_image(name).await;
        if is_missing(&found) {
            if pull == Pull::Never {
                let address = self.nature.address.clone();
                return Err(ContainerError::NoImage { image: name.to_owned(), address });
            }
            self.fetch(name, told).await?;
            found = self.docker.inspect_image(name).await;
        }
        let image = found.map_err(while_it("find the image"))?;
        let variables = image.config.and_then(|config| config.env).unwrap_or_default();
        let path = variables.iter().find_map(|it| it.strip_prefix("PATH=")).unwrap_or_default();
        let path = path.split(':').filter(|folder| folder.starts_with('/')).map(str::to_owned);
        let names = variables.iter().filter_map(|it| it.split('=').next());
        Ok(Image {
            id: image.id.unwrap_or_default(),
            path: path.collect(),
            variables: names.map(str::to_owned).collect(),
        })
    }

    async fn fetch(&self, name: &str, told: &Told) -> Result<(), ContainerError> {
        let last = name.rsplit('/').next().unwrap_or_default();
        // Without a tag all of them would be fetched.
        let tag = if last.contains([':', '@']) { "" } else { "latest" };
        let options = CreateImageOptionsBuilder::default().from_image(name).tag(tag).build();
        let fetching = self.docker.create_image(Some(options), None, None);
        let mut progress = Fetching::begin(name, told);
        let fetched = fetching.try_for_each(|step| {
            progress.take(&step);
            future::ok(())
        });
        let fetched = fetched.await;
        fetched.map_err(|source| ContainerError::Pull {
            image: name.to_owned(),
            source: Box::new(source),
        })
    }

    /// A container, unless there is none of the name.
    pub(super) async fn container(
        &self,
        name: &str,
    ) -> Result<Option<ContainerInspectResponse>, ContainerError> {
        let found = self.docker.inspect_container(name, None::<InspectContainerOptions>).await;
        match found {
            // Podman has states that the API does not know; in none of them the container runs.
            Err(Error::JsonDataError { .. }) => Ok(Some(ContainerInspectResponse::default())),
            missing if is_missing(&missing) => Ok(None),
            found => found.map(Some).map_err(while_it("find the container")),
        }
    }

    /// All containers with a label.
    ///
    /// One that changes just now can be in a state that only Podman knows; then it is asked again.
    pub(super) async fn labelled(
        &self,
        label: &str,
    ) -> Result<Vec<ContainerSummary>, ContainerError> {
        let states = vec!["created", "running", "paused", "exited"];
        let filters = HashMap::from([("label", vec![label]), ("status", states)]);
        let options = ListContainersOptionsBuilder::default().all(true).filters(&filters).build();
        let deadline = Instant::now() + DEATH;
        loop {
            match self.docker.list_containers(Some(options.clone())).await {
                Err(Error::JsonDataError { .. }) if Instant::now() < deadline => sleep(PAUSE).await,
                found => return found.map_err(while_it("list its containers")),
            }
        }
    }

    /// Ends a container with everything in it. When this returns, the kernel has ended all of it.
    pub(super) async fn kill(&self, container: &str) -> Result<(), ContainerError> {
        let options = KillContainerOptionsBuilder::default().signal("SIGKILL").build();
        let killed = self.docker.kill_container(container, Some(options)).await;
        let deadline = Instant::now() + DEATH;
        while self.container(container).await?.is_some_and(|found| is_running(&found)) {
            if Instant::now() > deadline {
                return killed.map_err(while_it("kill the container"));
            }
            sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Removes a container, whatever it is doing; gives whether there was one.
    pub(super) async fn remove(&self, container: &str) -> Result<bool, ContainerError> {
        let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
        let removed = self.docker.remove_container(container, Some(options)).await;
        if is_missing(&removed) {
            return Ok(false);
        }
        removed.map(|()| true).map_err(while_it("remove the container"))
    }

    /// How many processes are in a container, if the engine can tell.
    ///
    /// Docker asks the `ps` of the machine at once, but takes a second for its statistics. Podman has those
    /// at once, but would ask a `ps` in the container, which can say what it likes.
    pub(super) async fn processes(&self, container: &str) -> Option<u64> {
        if !self.nature.is_podman
            && let Ok(list) = self.docker.top_processes(container, None::<TopOptions>).await
            && let Some(processes) = list.processes
        {
            return u64::try_from(processes.len()).ok();
        }
        let options = StatsOptionsBuilder::default().stream(false).one_shot(true).build();
        let mut counted = self.docker.stats(container, Some(options));
        counted.next().await?.ok()?.pids_stats?.current
    }

    /// Whether the engine itself runs as an ordinary user, who is root in its containers.
    pub(super) async fn is_rootless(&self) -> Result<bool, ContainerError> {
        let info = self.docker.info().await.map_err(while_it("tell about itself"))?;
        let options = info.security_options.unwrap_or_default();
        Ok(options.iter().any(|option| option.contains("rootless")))
    }
}

/// Whether a container runs.
pub(super) fn is_running(container: &ContainerInspectResponse) -> bool {
    container.state.as_ref().and_then(|state| state.running).unwrap_or_default()
}

/// Whether the engine says that there is no such thing.
pub(super) fn is_missing<T>(answer: &Result<T, Error>) -> bool {
    matches!(answer, Err(Error::DockerResponseServerError { status_code: 404, .. }))
}

fn named(address: &str) -> Result<PathBuf, ContainerError> {
    let path = address.strip_prefix("unix://").unwrap_or(address);
    if path.starts_with('/') {
        Ok(path.into())
    } else {
        Err(ContainerError::Address { address: address.to_owned() })
    }
}

/// The first usual place where somebody listens.
async fn usual() -> Result<PathBuf, ContainerError> {
    let user = rustix::process::geteuid().as_raw();
    let places = [
        "/run/docker.sock".to_owned(),
        "/var/run/docker.sock".to_owned(),
        format!("/run/user/{user}/docker.sock"),
        format!("/run/user/{user}/podman/podman.sock"),
        "/run/podman/podman.sock".to_owned(),
    ];
    for place in &places {
        if UnixStream::connect(Path::new(place)).await.is_ok() {
            return Ok(place.into());
        }
    }
    Err(ContainerError::NoEngine { tried: places.to_vec() })
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[test]
    fn the_older_version_of_the_api_is_spoken() {
        let spoken = |theirs| common_version(theirs).to_string();
        let ours = API_DEFAULT_VERSION.to_string();
        assert_eq!(
            [spoken("1.41"), spoken("1.999"), spoken("")],
            ["1.41".to_owned(), ours.clone(), ours]
        );
    }

    /// What is made of somebody who gives an answer to whatever is asked, or none and waits.
    async fn asked(answer: &'static [u8]) -> Result<Nature, ContainerError> {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let listener = tokio::net::UnixListener::bind(&socket).unwrap();
        let address = format!("unix://{}", socket.display());
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _asked = stream.read(&mut [0; 4096]).await.unwrap();
            stream.write_all(answer).await.unwrap();
            if answer.is_empty() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            nature = Nature::ask(&address, Duration::from_millis(300)) => nature,
            () = async { serve.await; std::future::pending().await } => unreachable!("it waits"),
        }
    }

    #[tokio::test]
    async fn what_does_not_answer_like_an_engine_is_none() {
        for answer in [
            &b""[..],
            b"220 mail.example.org ESMTP\r\n",
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        ] {
            let error = asked(answer).await.unwrap_err();
            assert!(matches!(error, ContainerError::Stranger { .. }), "{error:?}");
        }
        let engine = b"HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{\"ApiVersion\":\"1.30\"}";
        assert_eq!(asked(engine).await.unwrap().version.to_string(), "1.30");
    }

    #[test]
    fn only_sockets_of_this_machine_are_addresses() {
        for address in ["unix:///run/x.sock", "/run/x.sock"] {
            assert_eq!(named(address).unwrap(), Path::new("/run/x.sock"));
        }
        for address in ["tcp://127.0.0.1:2375", "ssh://me@host", "unix://x.sock", "", "x"] {
            assert!(matches!(named(address), Err(ContainerError::Address { .. })), "{address}");
        }
    }
}
