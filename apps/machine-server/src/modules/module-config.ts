/** The modules of a configuration. */
import { homedir } from 'node:os';
import type { Problem } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import { durationMs } from '../config/duration.ts';

export interface ModuleConfig {
  readonly name: string;
  /** The program to start, with resolved placeholders. */
  readonly executablePath: string;
  readonly isLocal: boolean;
  /** `<namespace>:<name>` of a registry module; otherwise empty. */
  readonly moduleId: string;
  /** The level that its process is started with; empty: its default, info. */
  readonly logLevel: string;
  /** Added to the environment of the process; overrides everything else. */
  readonly env: Readonly<Record<string, string>>;
  /** Time limit of its first-run script. */
  readonly firstRunTimeoutMs: number;
  /** Whether it listens on a port of this computer instead of a socket. */
  readonly tcpMode: boolean;
  /** Whether it does not get the API key of the machine. */
  readonly noApiKey: boolean;
  /** Why the cloud cannot serve it; empty if it can. */
  readonly error: string;
}

/** What cannot be prevented here (D52). */
export const tcpModeWarning =
  'tcp_mode: every account of this computer can call the port on which the module itself listens, and use its resources';

const firstRunTimeoutMs = 3_600_000;
/** The name is part of paths of files and sockets, and of names of loggers. */
const validName = /^[A-Za-z0-9][\w.-]{0,99}$/;
/** The name of the other end of each module's connection. */
const reserved = 'parent';

/** Modules with an invalid name, or the name of an earlier module, are reported and omitted. */
export function readModules(modules: readonly JsonObject[]): {
  readonly modules: readonly ModuleConfig[];
  readonly problems: readonly Problem[];
} {
  const byName = new Map<string, ModuleConfig>();
  const problems: Problem[] = [];
  for (const [index, entry] of modules.entries()) {
    const module = read(entry);
    const { name } = module;
    const complain = (message: string): void =>
      void problems.push({ path: `modules[${index}].name`, level: 'error', message: `${message}: it is not started` });
    if (!validName.test(name) || name === reserved)
      complain(`expected letters, digits, "_", "-" and ".", and not "${reserved}", found ${JSON.stringify(name)}`);
    else if (byName.has(name)) complain(`expected one module named "${name}", found another one`);
    else byName.set(name, module);
  }
  return { modules: [...byName.values()], problems };
}

function read(entry: JsonObject): ModuleConfig {
  const text = (key: string): string => (typeof entry[key] === 'string' ? entry[key] : '');
  const env = Object.entries((entry['env'] ?? {}) as JsonObject);
  return {
    name: text('name'),
    // The public command line writes paths of modules that it copied to the machine like this.
    executablePath: text('executable_path').replace(/^~(?=\/)/, homedir()),
    isLocal: text('type') !== 'registry',
    moduleId: text('module_id'),
    logLevel: text('log_level'),
    env: Object.fromEntries(env.map(([key, value]) => [key, String(value)])),
    firstRunTimeoutMs: durationMs(text('first_run_timeout')) || firstRunTimeoutMs,
    tcpMode: entry['tcp_mode'] === true,
    noApiKey: entry['no_api_key'] === true,
    error: String((entry['status'] as JsonObject | undefined)?.['error'] ?? ''),
  };
}
