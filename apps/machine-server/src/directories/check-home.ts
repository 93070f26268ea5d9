import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, type Log, PlatformError } from '@platform/base';
import { makeDirectory } from './make-directory.ts';

/**
 * Without a home there is neither cache nor capture: a start that seems to work would lose both. A full disk is different: the server
 * itself is needed to free space.
 *
 * @throws PlatformError failed_precondition that names the directory.
 */
export async function checkHome(home: string, log: Log): Promise<void> {
  const probe = join(home, `.writable.${process.pid}`);
  try {
    await makeDirectory(home);
    await writeFile(probe, '', { mode: 0o600 });
    await rm(probe);
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO') {
      log.error('the disk of the home directory cannot be written', { home, error: errorText(caught) });
      return;
    }
    throw new PlatformError(
      'failed_precondition',
      `expected a directory that this account can write to at ${home} (${errorText(caught)}): set PLATFORM_HOME, or give the account access`,
      caught,
    );
  }
}
