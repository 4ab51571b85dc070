//! The database users of roles: one for each, with a login in a file of its own.
//!
//! A user is named after the database and its role (`bankroll_indexer`), since users belong to the whole server. The
//! file is the password's only place: written before the server learns of it, and never overwritten, so that repeating
//! the command after a failure changes nothing.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::Context;
use bankroll_nodes::NodeRole;
use bankroll_roles::flows;
use bankroll_signer::keystore;
use bankroll_store::{Clock, DatabaseUrl, DatabaseUser, write_users};

use crate::secret_file::write_secret;

/// The longest name that Postgres keeps whole.
const NAME_MAX: usize = 63;

/// The user of a role, and the file with its login.
#[derive(Debug)]
pub struct WrittenUser {
    pub role: NodeRole,
    pub name: String,
    pub file: PathBuf,
}

/// Makes a user for each role, or gives existing ones their rights of today; their logins are in this folder.
pub fn write(owner: &DatabaseUrl, folder: &Path) -> anyhow::Result<Vec<WrittenUser>> {
    let database = owner.database()?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let (mut users, mut written) = (Vec::new(), Vec::new());
    for role in NodeRole::ALL {
        let name = format!("{database}_{role}");
        anyhow::ensure!(
            name.len() <= NAME_MAX,
            "{name} is too long for the name of a database user: name the database with at most {} letters",
            NAME_MAX - "_reconciler".len()
        );
        let file = folder.join(format!("{role}.url"));
        users.push(DatabaseUser { role: role.as_str(), password: password(owner, &name, &file)?, name: name.clone() });
        written.push(WrittenUser { role, name, file });
    }
    write_users(owner, &flows::migrations(), &flows::grants(), &users, Clock::machine().now())
        .context("cannot write the database users")?;
    Ok(written)
}

/// The password in the file; a new one if there is no file.
fn password(owner: &DatabaseUrl, user: &str, file: &Path) -> anyhow::Result<String> {
    match fs::read_to_string(file) {
        Ok(url) => {
            let known = DatabaseUrl::new(url.trim()).password().ok().flatten();
            known.with_context(|| format!("{} is not a database URL with a password; move it away", file.display()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let password = hex::encode(keystore::generate().as_slice());
            let url = owner.for_user(user, &password)?;
            write_secret(file, &format!("{}\n", url.reveal()))?;
            Ok(password)
        }
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}
