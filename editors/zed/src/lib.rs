//! Starts `devfix lsp`: the executable of the settings, or `devfix` on the project's `PATH`.

use zed_extension_api::{self as zed, serde_json, settings::LspSettings, LanguageServerId, Result};

struct DevfixExtension;

impl zed::Extension for DevfixExtension {
    fn new() -> Self {
        DevfixExtension
    }

    fn language_server_command(
        &mut self,
        id: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<zed::Command> {
        let settings = LspSettings::for_worktree(id.as_ref(), worktree)?;
        let (path, arguments) = match settings.binary {
            Some(binary) => (binary.path, binary.arguments),
            None => (None, None),
        };
        let command = path.or_else(|| worktree.which("devfix")).ok_or(
            "devfix is not on PATH: pip install 'devfix[lsp]', or set lsp.devfix.binary.path",
        )?;
        Ok(zed::Command {
            command,
            args: arguments.unwrap_or_else(|| vec!["lsp".to_string()]),
            env: worktree.shell_env(),
        })
    }

    /// The server requests the section `devfix`.
    fn language_server_workspace_configuration(
        &mut self,
        id: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<Option<serde_json::Value>> {
        let settings = LspSettings::for_worktree(id.as_ref(), worktree)?.settings;
        Ok(settings.map(|own| serde_json::json!({ "devfix": own })))
    }
}

zed::register_extension!(DevfixExtension);
