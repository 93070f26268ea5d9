/**
 * Enforces the import table of docs/architecture.md between workspaces, and the import rules inside apps. Root files wire everything;
 * features do not import root files (except the types of settings.ts, and in the command line its values). Inside a feature, imports go
 * feature.ts → rpc.ts → verb → store.ts.
 */
import { basename, dirname, join, normalize } from 'node:path';
import { importsOf } from './imports.ts';
import { filesToCheck, isSource, isTest, read, report } from './repository.ts';

/** What each workspace may import; an entry with a slash allows only that entry point. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  web: [
    ...['proto', 'machine-config/schema', 'machine-config/capture-methods', 'machine-config/first-configuration'],
    ...['machine-config/program-snippets', 'base/clock', 'base/zap-field', 'rpc/channel', 'webrtc/browser'],
  ],
  cli: [
    ...['sdk', 'machine-config', 'capture-file', 'ftdc', 'machine-server/node-flags'],
    ...['base/as-started', 'base/json-in', 'base/refusals', 'base/replace-file', 'base/version', 'base/zap-field'],
  ],
  cloud: ['rpc', 'resources', 'machine-config', 'capture-file', 'query', 'conditions', 'proto', 'base'],
  'machine-server': [
    ...['rpc', 'webrtc', 'resources', 'machine-config', 'capture-file', 'ftdc', 'conditions', 'proto', 'base'],
  ],
  sdk: ['rpc/client', 'rpc/portable', 'rpc/server', 'webrtc', 'resources', 'proto', 'base'],
  resources: ['rpc', 'proto', 'base'],
  rpc: ['proto', 'base'],
  webrtc: ['rpc/client', 'rpc/channel', 'rpc/portable', 'proto', 'base'],
  'machine-config': ['proto', 'base'],
  'capture-file': ['proto', 'base'],
  query: ['proto', 'base'],
  conditions: ['proto', 'base'],
  ftdc: ['base'],
  proto: [],
  base: [],
  testkit: ['*'],
};

/**
 * Packages that only one folder of a workspace may import; nothing outside this folder and its entry point may import these files: clients
 * also run in browsers, and must not load the listening half of `rpc`.
 */
const onlyIn: Readonly<
  Record<string, { readonly folder: string; readonly entry: string; readonly imports: readonly string[] }>
> = {
  sdk: {
    folder: 'packages/sdk/src/module/',
    entry: 'packages/sdk/src/module.ts',
    imports: ['rpc/server', 'resources/serve'],
  },
};

/**
 * What each feature of the cloud may import from other features, besides `leaves`. The graph has no cycles: no two features lead to each
 * other. Features without an edge meet only at a seam: the log between ingest and its followers, the outbox between triggers and delivery.
 */
export const cloudEdges: Readonly<Record<string, readonly string[]>> = {
  access: ['instance', 'metadata'],
  accounts: ['access', 'instance', 'metadata'],
  admin: [
    ...['access', 'accounts', 'backup', 'billing', 'binary', 'blobs', 'follow-log', 'fragments', 'identity', 'ingest'],
    ...['instance', 'machines', 'metadata', 'outbox', 'packages', 'tabular'],
  ],
  backup: ['ingest', 'instance', 'metadata'],
  billing: ['access', 'accounts', 'follow-log', 'ingest', 'metadata', 'outbox'],
  binary: ['access', 'blobs', 'follow-log', 'ingest', 'instance', 'metadata'],
  blobs: ['instance'],
  connect: ['access', 'machines', 'metadata'],
  demo: ['access', 'accounts', 'instance', 'machines', 'metadata'],
  edge: [
    ...[
      'access',
      'accounts',
      'binary',
      'identity',
      'ingest',
      'instance',
      'machines',
      'outbox',
      'queries',
      'tabular',
      'test-inbox',
      'triggers',
      'watchdog',
    ],
  ],
  'follow-log': ['ingest'],
  fragments: ['access', 'accounts', 'instance', 'machines', 'metadata'],
  identity: ['access', 'accounts', 'instance', 'metadata', 'outbox'],
  ingest: ['blobs', 'metadata'],
  instance: [],
  live: ['access', 'accounts', 'ingest', 'machines'],
  machines: ['access', 'accounts', 'instance', 'metadata'],
  // It also collects the tables of every feature, from their store.ts.
  metadata: ['instance'],
  outbox: ['instance', 'metadata'],
  gaps: ['access', 'metadata'],
  packages: ['access', 'blobs', 'instance', 'metadata'],
  queries: ['access', 'metadata', 'tabular'],
  relay: ['access', 'accounts', 'machines', 'metadata'],
  retention: ['access', 'accounts', 'binary', 'instance', 'machines', 'metadata', 'tabular'],
  signaling: ['access', 'machines', 'relay'],
  tabular: ['ingest', 'instance', 'metadata'],
  'test-inbox': [],
  'trigger-service': ['access', 'instance', 'machines', 'metadata', 'outbox', 'triggers'],
  triggers: ['follow-log', 'ingest', 'machines', 'metadata', 'outbox', 'tabular'],
  watchdog: ['access', 'instance'],
};

/** Pairs of features in an app that meet only at a seam (a directory). */
const strangers: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'machine-server': [
    ['capture', 'sync'],
    ['sync', 'capture'],
  ],
};

/** Folders of an app that any feature may import, and that import no feature. */
const leaves: Readonly<Record<string, readonly string[]>> = { cloud: ['text-rules', 'wire', 'reading-codec'] };

/** Tests start the product as users do, and modules of their own. */
const bundles: readonly string[] = ['tools/bundles/program.ts', 'tools/bundles/test-program.ts'];

/** Apps that run once for a person and then end: code may read environment settings where it uses them, but only from settings.ts. */
const readSettings: readonly string[] = ['cli'];

/** Import problems of one file. `path` is relative to the repository's root, such as apps/cloud/src/ingest/store.ts. */
export function checkFile(path: string, text: string): string[] {
  const [kind, workspace = ''] = path.split('/');
  const allowed = mayImport[workspace];
  if (!allowed) return [`${path}: ${kind}/${workspace} has no row in the import table; add it to docs and tool`];
  const problems: string[] = [];
  for (const { specifier, typeOnly, line } of importsOf(text)) {
    const at = `${path}:${line}: `;
    if (specifier.startsWith('@platform/')) {
      const target = specifier.slice('@platform/'.length);
      if (!isTest(path) && !allows(allowed, workspace, target)) {
        problems.push(`${at}${workspace} may not import ${target} (may: ${allowed.join(', ') || 'nothing of ours'})`);
      }
      if (!isTest(path) && onlyIn[workspace]?.imports.includes(target) && !path.startsWith(onlyIn[workspace].folder)) {
        problems.push(`${at}only ${onlyIn[workspace].folder} may import ${target}`);
      }
      if (isTest(path) && !allows([...allowed, 'testkit', 'proto', 'base', 'rpc'], workspace, target)) {
        problems.push(`${at}a test of ${workspace} may not import ${target}`);
      }
    } else if (specifier.startsWith('.')) {
      const target = normalize(join(dirname(path), specifier));
      const own = onlyIn[workspace];
      if (isTest(path) && bundles.includes(target)) continue;
      if (!target.startsWith(`${kind}/${workspace}/`)) problems.push(`${at}${specifier} leaves the workspace`);
      else if (own && target.startsWith(own.folder) && !path.startsWith(own.folder) && path !== own.entry)
        problems.push(`${at}only ${own.entry} may import from ${own.folder}`);
      else if (kind === 'apps' && !isTest(path)) {
        const problem = insideApp(workspace, path, target, typeOnly);
        if (problem) problems.push(at + problem);
      }
    }
  }
  return problems;
}

function allows(allowed: readonly string[], workspace: string, target: string): boolean {
  const name = target.split('/')[0] ?? '';
  return name === workspace || allowed.some((entry) => entry === '*' || entry === name || entry === target);
}

function insideApp(app: string, path: string, target: string, typeOnly: boolean): string | undefined {
  const [from, to] = [featureOf(path), featureOf(target)];
  if (from === '') return undefined;
  if (to === '') {
    const name = basename(target);
    const wires = /^(main|compose(-.*)?)\.ts$/.test(name) || (name === 'settings.ts' && !readSettings.includes(app));
    return wires && !typeOnly ? `feature ${from} may not import ${name}: pass in what it needs` : undefined;
  }
  if (from !== to) {
    if (leaves[app]?.includes(from))
      return `${from} may not import ${to}: any feature may import ${from}, so ${from} must not import any feature`;
    if (leaves[app]?.includes(to)) return undefined;
    if (app === 'cloud' && !mayReach(from, to, target))
      return `feature ${from} may not import ${to} (may: ${cloudEdges[from]?.join(', ') ?? 'nothing: add a row to cloudEdges'})`;
    const apart = strangers[app]?.some(([a, b]) => a === from && b === to);
    return apart ? `feature ${from} may not import ${to}: they meet at a seam` : undefined;
  }
  if (typeOnly || !areRanked(path, target)) return undefined;
  const [a, b] = [rank(path), rank(target)];
  return a > b
    ? `${basename(path)} may not import ${basename(target)}: feature.ts → rpc.ts → verb → store.ts`
    : undefined;
}

function mayReach(from: string, to: string, target: string): boolean {
  return cloudEdges[from]?.includes(to) === true || (from === 'metadata' && basename(target) === 'store.ts');
}

/** First folder below src, or '' for files that wire the app (root files, and the commands of a command line). */
function featureOf(path: string): string {
  const [first = '', ...rest] = path.split('/').slice(3);
  return rest.length > 0 && first !== 'commands' ? first : '';
}

/**
 * A subfolder of a feature is below its top: its files import neither feature.ts nor rpc.ts above it, and store.ts imports none of them.
 */
function areRanked(path: string, target: string): boolean {
  const [from, to] = [dirname(path), dirname(target)];
  return from === to || from.startsWith(`${to}/`) || (rank(path) === 3 && to.startsWith(`${from}/`));
}

/** Position in the import order: 0 feature (or a file named like its folder), 1 rpc, 2 verb or rule, 3 store. */
function rank(path: string): number {
  const name = basename(path);
  if (name === 'feature.ts' || name === `${basename(dirname(path))}.ts`) return 0;
  if (name === 'rpc.ts' || name.endsWith('-rpc.ts')) return 1;
  return name === 'store.ts' ? 3 : 2;
}

export function main(): void {
  const files = filesToCheck(
    ['apps', 'packages'],
    (path) => (isSource(path) || path.endsWith('.svelte')) && path.includes('/src/'),
  );
  report(
    'layers',
    files.flatMap((path) => checkFile(path, read(path))),
    `${files.length} files`,
  );
}

if (import.meta.main) main();
