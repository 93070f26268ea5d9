import { errorText, failedPrecondition, type Log, PlatformError } from '@platform/base';
import { lockDirectory } from './lock-directory.ts';

const lock = {
  what: 'the home directory',
  file: 'machine-server.lock',
  advice:
    'One machine-server runs in each home: stop the other process, or set PLATFORM_HOME to another directory for this one',
};

/**
 * Takes the home directory for this process; disposing releases it. Two servers would overwrite each other's cache and captures. A server
 * without a usable home would lose both, so it does not start. It starts on a full disk: only the server itself can free space.
 *
 * @throws PlatformError failed_precondition with the directory, and the process that has it.
 */
export async function lockHome(home: string, log: Log): Promise<AsyncDisposable> {
  try {
    return await lockDirectory(home, lock);
  } catch (caught) {
    if (caught instanceof PlatformError) throw caught;
    const { code } = caught as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO') {
      log.error('the disk of the home directory cannot be written', { home, error: errorText(caught) });
      return { async [Symbol.asyncDispose]() {} };
    }
    throw failedPrecondition(
      `expected a directory that this account can write to at ${home} (${errorText(caught)}): set PLATFORM_HOME, or give the account access`,
      caught,
    );
  }
}
