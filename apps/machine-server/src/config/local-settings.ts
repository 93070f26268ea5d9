/**
 * Settings that only the owner of this computer can make: keys of the `-config` file that no cloud, and no configuration from it, can
 * change. They take effect at the next start.
 */

export interface LocalSettings {
  /** Any program of this computer may act as a module with `tcp_mode` (D52). Default false. */
  readonly tcpModeTrusted: boolean;
}

const keys: readonly string[] = ['tcp_mode_trusted'];

/** @param file the document in the file. @param fail called with what was expected and found */
export function readLocalSettings(file: unknown, fail: (message: string) => never): LocalSettings {
  const { tcp_mode_trusted: trusted = false } = isRecord(file) ? file : {};
  if (typeof trusted !== 'boolean')
    return fail(`expected true or false at "tcp_mode_trusted", found ${JSON.stringify(trusted)}`);
  return { tcpModeTrusted: trusted };
}

/** The document without these keys: a configuration. */
export function withoutLocalSettings(file: unknown): unknown {
  return isRecord(file) ? Object.fromEntries(Object.entries(file).filter(([key]) => !keys.includes(key))) : file;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
