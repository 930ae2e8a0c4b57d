//! A place to work: named trees are staged, inputs brought in, a command is run by an executor, and what
//! it made is collected and kept.
//!
//! [`Runner::run`] is the only way a command of a skill is run, whoever asks; an
//! [`Interactive`] session is such a run that is talked to. It works in one of the [`Workspaces`], a folder for each session
//! in which [`path`] says what is where; what it was asked to keep is an [`artifact`].
//!
//! An [`executor`] confines the command: [`LocalExecutor`] with the kernel,
//! [`ContainerExecutor`](executor::ContainerExecutor) with Docker or Podman, and programs may bring
//! [their own](CustomExecutor). Where a run may reach some addresses, a [`proxy`] keeps it to them.
//!
//! ```standalone_crate
//! use metier_workspace::executor::unheard;
//! use metier_workspace::{
//!     Cancel, OutputSpec, RunOrder, RunRequest, Runner, WorkspaceKey, Tree, TreeEntry, TreeKind,
//! };
//! use sha2::{Digest, Sha256};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn run() -> Result<(), Box<dyn std::error::Error>> {
//!     let state = tempfile::tempdir()?;
//!     let runner = Runner::sandboxed(&state.path().join("state"))?;
//!
//!     // A skill is a folder with files that are known by their digests. `metier_agent::library::read_tree` lists one.
//!     let folder = state.path().join("greet");
//!     std::fs::create_dir(&folder)?;
//!     let script = "echo hello > $OUTPUT_DIR/greeting.txt\necho done\n";
//!     std::fs::write(folder.join("greet.sh"), script)?;
//!     let kind = TreeKind::File { sha256: Sha256::digest(script).into(), executable: false };
//!     let entries = vec![TreeEntry { path: "greet.sh".to_owned(), kind }];
//!     let tree = Tree::new("greet", folder, entries);
//!
//!     let key = WorkspaceKey {
//!         app: "docs".to_owned(),
//!         user: "ada".to_owned(),
//!         session: "first".to_owned(),
//!         generation: 0,
//!     };
//!     let globs = vec!["out/**".to_owned()];
//!     let request = RunRequest {
//!         skill: "greet".to_owned(),
//!         command: "sh greet.sh".to_owned(),
//!         outputs: Some(OutputSpec { globs, inline: true, save: true, ..OutputSpec::default() }),
//!         ..RunRequest::default()
//!     };
//!     let order = RunOrder::new(key, request, vec![tree]);
//!     let output = runner.run(order, unheard(), Cancel::new()?).await?;
//!     assert_eq!((output.exit_code, output.stdout.as_str()), (Some(0), "done\n"));
//!     assert_eq!(output.output_files[0].content.as_deref(), Some("hello\n"));
//!     assert_eq!(output.artifact_files[0].reference, "artifact://out/greeting.txt@0");
//!     assert_eq!(output.confinement.network, "none");
//!     Ok(())
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     metier_workspace::helper(); // First of all: to confine a command, the sandbox starts this program again.
//!     run()
//! }
//! ```

pub mod artifact;
mod attached;
mod clean;
pub mod collect;
mod copies;
mod encode;
pub mod environment;
pub mod executor;
pub mod grant;
pub mod input;
pub mod interactive;
pub mod layout;
mod manifest;
mod manner;
pub mod mime;
mod order;
mod own_file;
mod ownership;
pub mod path;
mod plan;
pub mod proxy;
mod publish;
pub mod record;
pub mod request;
pub mod run;
pub mod settle;
mod skill_folders;
mod space;
mod spans;
pub mod stage;
mod staged_entries;
pub mod stream;
pub mod way;

pub use artifact::ArtifactStore;
pub use executor::{CustomExecutor, Executor, Firmness, LocalExecutor, Network};
pub use interactive::Interactive;
pub use layout::{Workspace, WorkspaceKey, Workspaces};
pub use manner::Manner;
pub use metier_sandbox::{Cancel, Ended, Limits, Stream, helper};
pub use metier_secrets::Redactor;
pub use order::{InstalledTools, NO_SKILL, RunError, RunOrder, RunSettings, TimeoutError};
pub use request::{Confinement, InputSpec, OutputSpec, RunOutput, RunRequest};
pub use run::{OpenError, Runner};
pub use stage::{Tree, TreeEntry, TreeKind};
