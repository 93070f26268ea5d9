/**
 * A real Postgres server for tests, in its own temporary directory: no port, no password, removed with the test.
 *
 * States: starting → running → killed (as by a crash) → running … → stopped. A shell supervises the server: when this process ends, for any
 * reason, the shell's input ends, and it kills the server and removes the directory.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, chown, lchown, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { layOutPostgres, type PostgresBinaries } from './postgres-binaries.ts';
import { hasMemory, memory } from './temporary-directory.ts';

export interface PostgresOptions {
  /**
   * Whether commits are synced to the disk, as in production. Default false: the data is in memory if the system supports that, which is
   * ten times faster and makes a difference only to tests that kill the server.
   */
  readonly durable?: boolean;
}

export interface PostgresServer extends AsyncDisposable {
  /** `postgres://…` of a database of this server; `postgres` exists, the caller creates others. The socket is private to this user. */
  url(database: string): string;
  /** SIGKILL, like a crash: unsynced data is lost. Resolves when all its processes have ended. */
  kill(): Promise<void>;
  /** After kill: recovers and serves again. */
  start(): Promise<void>;
}

const run = promisify(execFile);
/**
 * Containers often have 64 MB: less than the write-ahead log alone may take (`max_wal_size`). Creating a database soon after another was
 * dropped took 40 ms in memory, and 800 ms on an ext4 disk, most of it to open new files.
 */
const leastMemoryBytes = 2 * 1024 ** 3;
const prefix = 'platform-postgres-';
/** Far more than usually needed, to allow for recovery on a busy machine. */
const startMs = 100_000;

/** Takes 1 to 2 s. Throws if this computer has no Postgres, saying how to get it, or with the server's error. */
export async function startPostgres({ durable = false }: PostgresOptions = {}): Promise<PostgresServer> {
  const directory = await mkdtemp(join(tmpdir(), prefix));
  const data = durable || !(await hasMemory(leastMemoryBytes)) ? undefined : await mkdtemp(join(memory, prefix));
  const server = new TemporaryServer(directory, durable, data);
  try {
    await server.create();
    await server.start();
    return server;
  } catch (caught) {
    await server[Symbol.asyncDispose]();
    throw caught;
  }
}

/**
 * Ends the processes that it started, by their numbers. On `keep` it does so like a crash; otherwise it uses the server's immediate
 * shutdown, which waits for the server's children, and then removes the directories.
 */
const guard = `
"$@" &
server=$!
read word
if [ "$word" = keep ]; then
  kill -9 $server
  wait $server
else
  kill -QUIT $server
  wait $server
  cd /
  rm -rf "$PLATFORM_POSTGRES" "$PLATFORM_POSTGRES_DATA"
fi
`;

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

class TemporaryServer implements PostgresServer {
  readonly #directory: string;
  readonly #durable: boolean;
  /** Where the data is if not in the directory. */
  readonly #memory: string | undefined;
  #binaries: PostgresBinaries | undefined;
  #owner: Owner | undefined;
  #shell: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #said = '';

  constructor(directory: string, durable: boolean, inMemory: string | undefined) {
    this.#directory = directory;
    this.#durable = durable;
    this.#memory = inMemory;
  }

  url(database: string): string {
    return `postgres://postgres@${encodeURIComponent(this.#directory)}/${encodeURIComponent(database)}`;
  }

  async create(): Promise<void> {
    const binaries = await layOutPostgres(this.#directory);
    this.#binaries = binaries;
    this.#owner = userInfo().uid === 0 ? await unprivileged() : undefined;
    if (this.#memory === undefined) await mkdir(this.#data, { mode: 0o700 });
    else await symlink(this.#memory, this.#data);
    await this.#handOver(this.#directory);
    await this.#handOver(this.#memory);
    await chmod(this.#directory, 0o700);
    const options = [
      '--username=postgres',
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
      '--no-instructions',
    ];
    await run(binaries.initdb, ['-D', this.#data, ...options], {
      ...this.#owner,
      env: this.#environment,
      cwd: this.#directory,
    });
  }

  async start(): Promise<void> {
    if (this.#binaries === undefined) throw new Error('create() comes first');
    const settings = {
      listen_addresses: '',
      unix_socket_directories: this.#directory,
      unix_socket_permissions: '0700',
      max_connections: '200',
      shared_buffers: '64MB',
      fsync: this.#durable ? 'on' : 'off',
      synchronous_commit: this.#durable ? 'on' : 'off',
      full_page_writes: this.#durable ? 'on' : 'off',
      logging_collector: 'off',
      max_wal_size: '256MB',
    };
    const named = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const command = [this.#binaries.postgres, '-D', this.#data, ...named];
    const shell = spawn('sh', ['-c', guard, 'sh', ...command], {
      ...this.#owner,
      cwd: this.#directory,
      env: {
        ...this.#environment,
        PLATFORM_POSTGRES: this.#directory,
        PLATFORM_POSTGRES_DATA: this.#memory ?? this.#data,
      },
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true,
    });
    this.#shell = shell;
    this.#said = '';
    shell.stdin?.on('error', () => {});
    shell.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-8_000);
    });
    this.#ended = new Promise((resolve) => {
      // Emitted when every process that inherited it is gone, including the server's children.
      shell.once('close', () => resolve());
      shell.once('error', () => resolve());
    });
    await this.#ready();
  }

  async kill(): Promise<void> {
    this.#shell?.stdin?.end('keep\n');
    this.#shell = undefined;
    await this.#ended;
    await rm(join(this.#data, 'postmaster.pid'), { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#shell?.stdin?.end();
    this.#shell = undefined;
    await this.#ended;
    for (const path of [this.#directory, this.#memory ?? this.#data]) await rm(path, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.#directory, 'data');
  }

  get #environment(): NodeJS.ProcessEnv {
    return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
  }

  async #ready(): Promise<void> {
    const deadline = performance.now() + startMs;
    while (performance.now() < deadline) {
      // The last line of its pid file says `ready` once it accepts connections.
      const lines = (await readFile(join(this.#data, 'postmaster.pid'), 'utf8').catch(() => '')).trimEnd().split('\n');
      if (lines.at(-1)?.trim() === 'ready' && (await answers(join(this.#directory, '.s.PGSQL.5432')))) return;
      if (/FATAL|could not/.test(this.#said) && lines.length < 2) break;
      await sleep(10);
    }
    throw new Error(`the Postgres server for tests did not start; it said: ${this.#said}`);
  }

  /** The server does not run as root: all files that it reads and writes are given to its user, so that the shell can remove them. */
  async #handOver(path: string | undefined): Promise<void> {
    if (this.#owner === undefined || path === undefined) return;
    await chown(path, this.#owner.uid, this.#owner.gid);
    for (const entry of await readdir(path, { withFileTypes: true })) {
      const below = join(path, entry.name);
      if (entry.isDirectory()) await this.#handOver(below);
      else if (entry.isSymbolicLink()) await lchown(below, this.#owner.uid, this.#owner.gid);
    }
  }
}

async function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket);
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', () => resolve(false));
  });
}

/** The account `nobody`: initdb needs an account with a name. */
async function unprivileged(): Promise<Owner> {
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((text) => text.startsWith('nobody:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined || gid === undefined)
    throw new Error('Postgres refuses to run as root, and /etc/passwd has no account "nobody" to run it as');
  return { uid: Number(uid), gid: Number(gid) };
}
