/**
 * Settings that only the owner of this computer can make: keys of the `-config` file that no cloud, and no configuration from it, can
 * change. They take effect at the next start.
 */

import { isAbsolute } from 'node:path';
import { isRecord } from '@platform/base';

export interface LocalSettings {
  /** Any program of this computer may act as a module with `tcp_mode` (D52). Default false. */
  readonly tcpModeTrusted: boolean;
  /** With `-untrusted-env`, sync reads and moves files only in these folders (D16). Default: none. */
  readonly allowedSyncFolders: readonly string[];
}

const keys: readonly string[] = ['tcp_mode_trusted', 'allowed_sync_folders'];

/** @param file the document in the file. @param fail called with what was expected and found */
export function readLocalSettings(file: unknown, fail: (message: string) => never): LocalSettings {
  const { tcp_mode_trusted: trusted = false, allowed_sync_folders: folders = [] } = isRecord(file) ? file : {};
  if (typeof trusted !== 'boolean')
    return fail(`expected true or false at "tcp_mode_trusted", found ${JSON.stringify(trusted)}`);
  if (!Array.isArray(folders) || !folders.every((each) => typeof each === 'string' && isAbsolute(each)))
    return fail(`expected a list of absolute paths at "allowed_sync_folders", found ${JSON.stringify(folders)}`);
  return { tcpModeTrusted: trusted, allowedSyncFolders: folders };
}

/** The document without these keys: a configuration. */
export function withoutLocalSettings(file: unknown): unknown {
  return isRecord(file) ? Object.fromEntries(Object.entries(file).filter(([key]) => !keys.includes(key))) : file;
}
