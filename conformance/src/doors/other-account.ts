/**
 * What another account of this computer gets from files, sockets and ports. As root, a process of the account `nobody` tries. Otherwise
 * nothing can act as another account: what it could open follows from the permissions of the file and all folders above it, and another
 * program of this account asks the ports, which make no difference between accounts, or (D52) between it and another one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const isRoot: boolean = process.getuid?.() === 0;
const nobody = 65_534;

/** For titles. */
export const otherAccount: string = isRoot ? 'another account' : 'another account (by permissions: not run as root)';

const tryAll = `
const fs = require('node:fs');
const net = require('node:net');
const { O_RDONLY, O_NONBLOCK, W_OK } = fs.constants;
const does = (act) => { try { act(); return true; } catch { return false; } };
const connects = (path) => new Promise((resolve) => {
  const socket = net.connect(path, () => { socket.destroy(); resolve(true); });
  socket.on('error', () => resolve(false));
});
const reach = async (path) => {
  if (does(() => fs.readdirSync(path))) return does(() => fs.accessSync(path, W_OK)) ? 'listed, written' : 'listed';
  if (await connects(path)) return 'connected';
  const isRead = does(() => fs.closeSync(fs.openSync(path, O_RDONLY | O_NONBLOCK)));
  const isWritten = does(() => fs.accessSync(path, W_OK));
  return [isRead && 'read', isWritten && 'written'].filter(Boolean).join(', ') || 'closed';
};
(async () => {
  const found = [];
  for (const path of JSON.parse(fs.readFileSync(0, 'utf8'))) found.push(await reach(path));
  process.stdout.write(JSON.stringify(found));
})();`;

const askAll = `
const http = require('node:http');
const ask = ({ body, ...question }) => new Promise((resolve) => {
  const request = http.request({ host: '127.0.0.1', ...question }, (response) => {
    response.resume();
    resolve(String(response.statusCode));
  });
  request.on('error', () => resolve('cut'));
  request.end(body);
});
(async () => {
  const found = [];
  for (const question of JSON.parse(require('node:fs').readFileSync(0, 'utf8'))) found.push(await ask(question));
  process.stdout.write(JSON.stringify(found));
})();`;

async function asNobody(script: string, input: readonly unknown[]): Promise<readonly string[]> {
  const account = isRoot ? { uid: nobody, gid: nobody } : {};
  const child = spawn(process.execPath, ['-e', script], {
    ...{ cwd: '/', env: { HOME: '/' }, stdio: ['pipe', 'pipe', 'inherit'] },
    ...account,
  });
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stdin?.end(JSON.stringify(input));
  await once(child, 'close');
  return JSON.parse(text);
}

/** For each path `closed`, or what the account may do: `read`, `written`, `listed` (a folder), `connected` (a socket). */
export async function reachedBy(paths: readonly string[]): Promise<readonly string[]> {
  const expected = paths.map(byPermissions);
  return isRoot ? asNobody(tryAll, paths) : expected;
}

/** The same from permissions alone, for an account that owns nothing of it and is in none of its groups. */
export function byPermissions(path: string): string {
  for (let at = dirname(path); ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return 'closed';
    if (at === '/') break;
  }
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 'closed';
  const [isRead, isWritten] = [(found.mode & 0o004) !== 0, (found.mode & 0o002) !== 0];
  if (found.isSocket()) return isWritten ? 'connected' : 'closed';
  const what = [isRead && (found.isDirectory() ? 'listed' : 'read'), isWritten && 'written'];
  return what.filter(Boolean).join(', ') || 'closed';
}

export interface PortQuestion {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** For each question the status of the answer, or `cut`. */
export function askedBy(questions: readonly PortQuestion[]): Promise<readonly string[]> {
  return asNobody(askAll, questions);
}

/** All folders and files in a folder, at any depth. */
export function everythingIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
}

/** A process and all that it has started. */
export function familyOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(familyOf)];
}

/** The Unix sockets and TCP ports on which these processes listen. */
export function listeningOf(pids: readonly number[]): {
  readonly sockets: readonly string[];
  readonly ports: readonly number[];
} {
  const inodes = new Set(
    pids.flatMap((pid) => descriptorsOf(pid).flatMap((to) => /^socket:\[(\d+)\]$/.exec(to)?.[1] ?? [])),
  );
  const linesOf = (name: string): string[][] =>
    readFileSync(`/proc/net/${name}`, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/));
  const accepts = 0x10000;
  const sockets = linesOf('unix')
    .filter(([, , , flags = '', , , inode = '']) => (Number.parseInt(flags, 16) & accepts) !== 0 && inodes.has(inode))
    .map((columns) => columns[7] ?? '');
  const ports = [...linesOf('tcp'), ...linesOf('tcp6')]
    .filter((columns) => columns[3] === '0A' && inodes.has(columns[9] ?? ''))
    .map((columns) => Number.parseInt(columns[1]?.split(':')[1] ?? '', 16));
  return { sockets: [...new Set(sockets)].toSorted(), ports: [...new Set(ports)].toSorted((a, b) => a - b) };
}

function descriptorsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(join(folder, name))];
    } catch {
      // Closed meanwhile.
      return [];
    }
  });
}
