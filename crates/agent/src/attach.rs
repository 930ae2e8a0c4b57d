//! Files that come with a task.

use metier_session::SessionKey;
use metier_session::content::Attachment;
use metier_workspace::input::upload;

use crate::agent::{Agent, AgentError};
use crate::session_identity::workspace_key;

impl Agent {
    /// Puts a file into the workspace of a session, which is begun if there is none of that name, and gives what a
    /// [`Task`](crate::Task) needs to have it as one of its attachments.
    ///
    /// Commands find it in `$WORK_DIR/inputs`. The same bytes under the same name keep their place.
    ///
    /// # Errors
    ///
    /// When the session cannot be begun, or the file cannot be written.
    pub async fn attach(
        &self,
        key: &SessionKey,
        name: &str,
        content: Vec<u8>,
    ) -> Result<Attachment, AgentError> {
        let at = self.sessions.create(key).await?.at;
        let (workspaces, mine) = (self.runner.workspaces.clone(), workspace_key(&at));
        let called = name.to_owned();
        let writing = move || upload(&workspaces.workspace(&mine)?, &called, &content);
        let written = tokio::task::spawn_blocking(writing).await.map_err(std::io::Error::other);
        let place = written.flatten();
        let place = place.map_err(|source| AgentError::Attach { name: name.to_owned(), source })?;
        let reference = format!("workspace://{}", place.as_str());
        Ok(Attachment { name: name.to_owned(), reference, ..Attachment::default() })
    }
}
