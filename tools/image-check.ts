/**
 * Builds the image of deploy/Dockerfile without Docker, and starts it: each step runs in a root directory made of Debian's packages, with
 * Node and npm where the official Node image has them. Needs root, debootstrap and unshare; Linux only.
 *
 *   image-check                always
 *   image-check --if-changed   only if the files on which it depends have changed since it passed
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { inputsOf, keyedCheck, keyOf } from './keyed-check.ts';
import { outsidePath } from './pack-packages.ts';
import { read, root } from './repository.ts';
import { createSteps } from './steps.ts';

const release = 'bookworm';
const untilReadyMs = 300_000;
/** A mirror may fail once. */
const mirrorAttempts = 3;

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The state that later steps of a stage inherit from earlier ones. */
interface Stage {
  readonly root: string;
  folder: string;
  user: string;
  readonly env: Record<string, string>;
  healthCheck?: readonly string[];
  command?: readonly string[];
}

function instructions(): Instruction[] {
  const lines = read('deploy/Dockerfile').replaceAll(/\\\n/g, ' ').split('\n');
  return lines
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      return { name, text };
    });
}

/** A Debian of the image's release with this Node, its npm, and this computer's settings for the package registry. */
function baseRoot(work: string): string {
  const base = join(work, 'base');
  const args = ['--variant=minbase', '--include=ca-certificates', release, base];
  for (let attempt = 1; ; attempt++) {
    const { status, stdout, stderr, error } = spawnSync('debootstrap', args, { encoding: 'utf8' });
    if (status === 0) break;
    if (attempt === mirrorAttempts)
      throw new Error(`debootstrap failed ${attempt} times; the last time:\n${stdout}${stderr}${error ?? ''}`);
    rmSync(base, { recursive: true, force: true });
  }
  const local = join(base, 'usr', 'local');
  cpSync(process.execPath, join(local, 'bin', 'node'), { dereference: true });
  cpSync(npmFolder(), join(local, 'lib', 'node_modules', 'npm'), { recursive: true, dereference: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin', 'npm'));
  for (const file of ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs/ca-certificates.crt'])
    if (existsSync(file)) cpSync(file, join(base, file), { dereference: true });
  const settings = join(homedir(), '.npmrc');
  if (existsSync(settings)) cpSync(settings, join(base, 'root', '.npmrc'));
  return base;
}

function npmFolder(): string {
  const env = { ...process.env, PATH: outsidePath() };
  const found = execFileSync('sh', ['-c', 'readlink -f "$(command -v npm)"'], { encoding: 'utf8', env }).trim();
  return dirname(dirname(found));
}

/** The command in the stage's root, as its user, with separate /dev and /proc. */
function inside({ root: folder, user, env, folder: at }: Stage, command: readonly string[]): [string, string[]] {
  // In bash: $0 is the root directory, $1 the user, $2 the working directory, followed by the command.
  const enter = 'root=$0 user=$1 at=$2; shift 2; mount --bind /dev "$root/dev"; mount -t proc proc "$root/proc"; cd /';
  const script = `set -e; ${enter}; exec chroot --userspec="$user" "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$at" "$@"`;
  const variables = Object.entries({ ...registryEnvironment(), ...env }).map(([name, value]) => `${name}=${value}`);
  const args = ['--mount', '--pid', '--fork', '--kill-child', 'bash', '-c', script, folder, user, at];
  return ['unshare', [...args, '/usr/bin/env', '-i', ...variables, ...command]];
}

function registryEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(npm_config_registry|https?_proxy|no_proxy)$/i.test(name),
  );
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
    ...(Object.fromEntries(kept) as Record<string, string>),
  };
}

function runIn(stage: Stage, text: string): void {
  const [program, args] = inside(stage, ['/bin/sh', '-c', text]);
  const result = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (result.status !== 0)
    throw new Error(
      `RUN ${text}: exit code ${result.status}\n${result.stdout.slice(-3_000)}${result.stderr.slice(-3_000)}`,
    );
}

/** COPY of the build context: tracked and new files. */
function copyContext(into: string): void {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of listed.split('\0').filter((name) => name !== '' && existsSync(join(root, name))))
    cpSync(join(root, file), join(into, file));
}

function build(work: string): Stage {
  const base = baseRoot(work);
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const { name, text } of instructions()) {
    if (name === 'FROM') {
      const [image = '', as = `stage-${stages.size}`] = text.split(/\s+AS\s+/);
      if (image !== `node:24-${release}-slim`)
        throw new Error(`FROM: expected node:24-${release}-slim, found ${image}`);
      stage = { root: join(work, as), folder: '/', user: 'root', env: { HOME: '/root' } };
      execFileSync('cp', ['-a', base, stage.root]);
      stages.set(as, stage);
      continue;
    }
    if (stage === undefined) throw new Error(`expected FROM before ${name}`);
    console.log(`       ${name} ${text}`);
    switch (name) {
      case 'WORKDIR':
        stage.folder = text;
        mkdirSync(join(stage.root, text), { recursive: true });
        break;
      case 'ENV': {
        const [key = '', value = ''] = text.split('=');
        stage.env[key] = value;
        break;
      }
      case 'USER':
        stage.user = text;
        stage.env['HOME'] = '/var/lib/platform';
        break;
      case 'COPY': {
        const [, from, source = '', target = ''] = /^(?:--from=(\S+)\s+)?(\S+)\s+(\S+)$/.exec(text) ?? [];
        const into = join(stage.root, target.startsWith('/') ? target : join(stage.folder, target));
        if (from === undefined) copyContext(into);
        else cpSync(join((stages.get(from) as Stage).root, source), into, { recursive: true });
        break;
      }
      case 'RUN':
        runIn(stage, text);
        break;
      case 'HEALTHCHECK':
        stage.healthCheck = JSON.parse(text.replace(/^.*?CMD\s+/, ''));
        break;
      case 'CMD':
        stage.command = JSON.parse(text);
        break;
      case 'VOLUME':
      case 'EXPOSE':
        break;
      default:
        throw new Error(`expected an instruction that this check knows, found ${name}`);
    }
  }
  if (stage === undefined) throw new Error('expected a stage, found none');
  return stage;
}

/** Starts the image's command on a free port, asks its health check, stops it. */
async function start(stage: Stage): Promise<string> {
  const { command = [], healthCheck = [] } = stage;
  const [program, args] = inside(stage, [...command, '--port', '0', '--json']);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
  const timer = setTimeout(() => child.kill('SIGKILL'), untilReadyMs);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.includes('"event":"ready"')) continue;
      const [checks, checkArgs] = inside(stage, healthCheck);
      const health = spawnSync(checks, checkArgs, { encoding: 'utf8' });
      if (health.status !== 0)
        throw new Error(`health check: exit code ${health.status}\n${health.stdout}${health.stderr}`);
      return health.stdout.replaceAll(/\s+/g, ' ').trim();
    }
    throw new Error(`the command ended before it was ready:\n${said.slice(-20).join('\n')}`);
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

// What runs in the image, too: `npm run pack`, and what starts it.
const inputs = inputsOf(['tools/image-check.ts', 'tools/pack.ts', 'tools/run.js'], ['deploy']);
const image = keyedCheck('container-image', keyOf(inputs, [release, process.version, process.arch]));
const unchanged = process.argv.includes('--if-changed') ? image.unchanged : undefined;
const steps = createSteps();
const work = mkdtempSync(join(tmpdir(), 'platform-image-'));
try {
  let stage: Stage | undefined;
  const builds = (): string => {
    stage = build(work);
    return '';
  };
  await steps.step('every step of deploy/Dockerfile runs', builds, unchanged);
  const starts = async (): Promise<string> => {
    const { user } = stage as Stage;
    if (user === 'root') throw new Error('expected another user, found root');
    return `as ${user}: ${await start(stage as Stage)}`;
  };
  await steps.step('the image starts without root, and its health check answers', starts, unchanged);
} finally {
  rmSync(work, { recursive: true, force: true });
}
if (!steps.failed && unchanged === undefined) image.passed();
await steps.end();
