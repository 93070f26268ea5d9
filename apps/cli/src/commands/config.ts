/** `platform config`: the configuration of a part as versions: read, edit, validate, compare, restore. */
import { readFile } from 'node:fs/promises';
import { diff, diffLines } from '@platform/machine-config/diff';
import type { Json } from '@platform/machine-config/schema';
import {
  type ConfigurationProblem,
  type ConfigurationVersion,
  type JsonObject,
  PlatformError,
} from '@platform/sdk/cloud';
import { Command } from 'commander';
import { editText } from '../config/edit-text.ts';
import type { Context } from '../invocation/context.ts';
import { group, leaf } from '../invocation/leaf.ts';
import { timeOf } from '../invocation/shapes.ts';

const partArgument = ['<part>', 'id, Machine/part, or a machine for its main part'] as const;
const versionFields = ['version', 'saved_at', 'author', 'author_kind', 'revision', 'bytes', 'restored_from'];

export function configCommand(): Command {
  return group('config', 'configuration of a part, as versions', [
    get(),
    edit(),
    set(),
    validate(),
    compare(),
    history(),
    restore(),
    schema(),
  ]);
}

function shape(one: ConfigurationVersion): JsonObject {
  return {
    version: Number(one.version),
    saved_at: timeOf(one.savedAt),
    author: one.author?.name || (one.author?.id ?? ''),
    author_kind: one.author?.kind ?? '',
    revision: one.revision,
    bytes: one.bytes,
    restored_from: one.restoredFrom === 0n ? null : Number(one.restoredFrom),
  };
}

interface Read {
  readonly partId: string;
  readonly partName: string;
  readonly version: ConfigurationVersion | undefined;
  /** Pretty when it is JSON. */
  readonly text: string;
  readonly effective: string | undefined;
}

async function read({ cloud, find, signal }: Context, part: string, version?: number): Promise<Read> {
  const { id, name } = await find.part(part);
  // What every part begins with.
  if (version === 0) return { partId: id, partName: name, version: undefined, text: '{}', effective: undefined };
  const answer = await (await cloud()).fleet.getConfigurationVersion(
    { partId: id, ...(version === undefined ? {} : { version: BigInt(version) }) },
    { signal },
  );
  return {
    partId: id,
    partName: name,
    version: answer.version,
    text: pretty(answer.document),
    effective: answer.effectiveDocument === undefined ? undefined : pretty(answer.effectiveDocument),
  };
}

function pretty(document: string): string {
  return JSON.stringify(JSON.parse(document), null, 2);
}

function parsed(text: string, where: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (caught) {
    throw new PlatformError(
      'invalid_argument',
      `${where}: expected JSON, found a mistake: ${(caught as Error).message}`,
    );
  }
}

/** Problems for people on stderr; true when none is an error. */
function tell({ out }: Context, problems: readonly ConfigurationProblem[]): boolean {
  for (const problem of problems) out.warn(`${problem.severity}: ${problem.path}: ${problem.message}`);
  return !problems.some((problem) => problem.severity === 'error');
}

function get(): Command {
  return leaf(
    new Command('get')
      .description('print the configuration of a part')
      .argument(...partArgument)
      .option('--version <number>', 'an older version')
      .option('--effective', 'with fragments resolved, as the part gets it'),
    {
      examples: [
        'platform config get press-7',
        'platform config get press-7 --version 3',
        'platform config get press-7 --effective',
      ],
    },
    async (context, flags, part = '') => {
      const found = await read(context, part, numberOf(flags['version']));
      const effective = flags['effective'] === true;
      if (effective && found.effective === undefined)
        throw new PlatformError('invalid_argument', '--effective: expected the current version, found an older one');
      context.out.raw((effective ? found.effective : found.text) ?? found.text);
    },
  );
}

async function save(context: Context, before: Read, text: string): Promise<void> {
  const document = parsed(text, 'configuration');
  const { app, fleet } = await context.cloud();
  const options = { signal: context.signal };
  const changes = diff(parsed(before.text, 'configuration'), document);
  if (changes.length === 0) return context.out.note('nothing changed, nothing was saved');
  const { problems } = await fleet.validateConfiguration({ partId: before.partId, document: text }, options);
  if (!tell(context, problems))
    throw new PlatformError('invalid_argument', 'the configuration has errors; nothing was saved');
  for (const line of diffLines(changes)) context.out.note(line);
  await context.agreed(
    `Save ${changes.length} ${changes.length === 1 ? 'change' : 'changes'} to the part "${before.partName}"?`,
  );
  const savedAt = before.version?.savedAt;
  await app.updateRobotPart(
    {
      id: before.partId,
      robotConfigJson: text,
      // Somebody else's save in between is a conflict and not an overwritten edit.
      ...(savedAt === undefined || before.version?.version === 0n ? {} : { lastKnownUpdate: savedAt }),
    },
    options,
  );
  const { version } = await fleet.getConfigurationVersion({ partId: before.partId }, options);
  if (version !== undefined && context.out.style.json !== false) context.out.object(shape(version));
  context.out.note(`saved as version ${version?.version}; the part takes it within 15 s when it is online`);
}

function edit(): Command {
  return leaf(
    new Command('edit')
      .description('edit the configuration of a part with $VISUAL or $EDITOR; validated and shown before it is saved')
      .argument(...partArgument),
    {
      examples: ['platform config edit press-7', 'EDITOR=nano platform config edit press-7/gripper'],
      fields: versionFields,
    },
    async (context, _flags, part = '') => {
      const before = await read(context, part);
      const problemsOf = async (edited: string): Promise<string[]> => {
        parsed(edited, 'configuration');
        const { problems } = await (await context.cloud()).fleet.validateConfiguration(
          { partId: before.partId, document: edited },
          { signal: context.signal },
        );
        return problems.filter((one) => one.severity === 'error').map((one) => `${one.path}: ${one.message}`);
      };
      await editText(before.text, `${before.partId}.json`, context, problemsOf, (text) => save(context, before, text));
    },
  );
}

function set(): Command {
  return leaf(
    new Command('set')
      .description('save a file as the configuration of a part')
      .argument(...partArgument)
      .argument('<file>', 'JSON; - reads standard input')
      .option('--if-version <number>', 'only if this version is still the current one'),
    {
      examples: [
        'platform config set press-7 press.json --yes',
        'platform config set press-7 - --if-version 12 --yes < press.json',
      ],
      fields: versionFields,
    },
    async (context, flags, part = '', file = '') => {
      const text = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8');
      const before = await read(context, part);
      const expected = numberOf(flags['ifVersion']);
      if (expected !== undefined && BigInt(expected) !== before.version?.version) {
        throw new PlatformError(
          'aborted',
          `configuration of part ${before.partId}: expected version ${expected} to be the current one, found ${before.version?.version}. See what changed with: platform config diff ${before.partId} ${expected}`,
        );
      }
      await save(context, before, text);
    },
  );
}

function validate(): Command {
  return leaf(
    new Command('validate')
      .description('say what is wrong with a configuration, without saving it')
      .argument(...partArgument)
      .argument('[file]', 'JSON; - reads standard input (default: what is saved)'),
    {
      examples: ['platform config validate press-7 press.json', 'platform config validate press-7'],
      fields: ['severity', 'path', 'message'],
    },
    async (context, _flags, part = '', file = undefined) => {
      const before = await read(context, part);
      const document = file === undefined ? before.text : await readFile(file === '-' ? '/dev/stdin' : file, 'utf8');
      const { problems, revision } = await (await context.cloud()).fleet.validateConfiguration(
        { partId: before.partId, document },
        { signal: context.signal },
      );
      const rows = problems.map(({ severity, path, message }) => ({ severity, path, message }));
      if (rows.length > 0 || context.out.style.json !== false) context.out.rows(rows, ['severity', 'path', 'message']);
      const errors = rows.filter((row) => row.severity === 'error').length;
      if (errors > 0) throw new PlatformError('invalid_argument', `${errors} ${errors === 1 ? 'error' : 'errors'}`);
      context.out.note(`valid (revision ${revision})`);
    },
  );
}

function compare(): Command {
  return leaf(
    new Command('diff')
      .description('show what changed between two versions, or between a version and a file')
      .argument(...partArgument)
      .argument('[from]', 'version (default: the one before the current)')
      .argument('[to]', 'version (default: the current)')
      .option('--file <file>', 'compare the current version with this file'),
    {
      examples: [
        'platform config diff press-7',
        'platform config diff press-7 3 7',
        'platform config diff press-7 --file press.json',
      ],
      fields: ['kind', 'path', 'before', 'after'],
    },
    async (context, flags, part = '', from = undefined, to = undefined) => {
      const current = await read(context, part, numberOf(to));
      const file = flags['file'] as string | undefined;
      const at = Number(current.version?.version ?? 0);
      const older = file === undefined ? await read(context, part, numberOf(from) ?? Math.max(0, at - 1)) : current;
      const newer = file === undefined ? current.text : await readFile(file === '-' ? '/dev/stdin' : file, 'utf8');
      const changes = diff(parsed(older.text, 'configuration'), parsed(newer, file ?? 'configuration'));
      if (context.out.style.json !== false) {
        context.out.rows(
          changes.map((change) => ({ ...change, path: [...change.path], of: [...change.of] }) as JsonObject),
          [],
        );
        return;
      }
      for (const line of diffLines(changes)) context.out.raw(line);
      if (changes.length === 0) context.out.note('no difference');
    },
  );
}

function history(): Command {
  return leaf(
    new Command('history')
      .description('list the versions of the configuration of a part, newest first')
      .argument(...partArgument)
      .option('--limit <number>', 'number of versions', '50'),
    {
      examples: ['platform config history press-7', 'platform config history press-7 --limit 500 --json'],
      fields: versionFields,
    },
    async ({ cloud, find, out, signal }, flags, part = '') => {
      const { id } = await find.part(part);
      const { fleet } = await cloud();
      const limit = numberOf(flags['limit']) ?? 50;
      const rows: JsonObject[] = [];
      let pageToken = '';
      do {
        const page = await fleet.listConfigurationVersions(
          { partId: id, pageLimit: Math.min(500, limit - rows.length), ...(pageToken === '' ? {} : { pageToken }) },
          { signal },
        );
        rows.push(...page.versions.map(shape));
        pageToken = page.nextPageToken;
      } while (pageToken !== '' && rows.length < limit);
      out.rows(rows, ['version', 'saved_at', 'author', 'bytes', 'restored_from']);
    },
  );
}

function restore(): Command {
  return leaf(
    new Command('restore')
      .description('save an old version as the newest one')
      .argument(...partArgument)
      .argument('<version>'),
    { examples: ['platform config restore press-7 3'], fields: versionFields },
    async (context, _flags, part = '', version = '') => {
      const current = await read(context, part);
      const wanted = numberOf(version) ?? 0;
      const old = await read(context, part, wanted);
      const changes = diff(parsed(current.text, 'configuration'), parsed(old.text, 'configuration'));
      if (changes.length === 0)
        return context.out.note(`version ${wanted} is the same as the current one; nothing was saved`);
      for (const line of diffLines(changes)) context.out.note(line);
      await context.agreed(`Restore version ${wanted} of the part "${current.partName}"?`);
      const restored = await (await context.cloud()).fleet.restoreConfigurationVersion(
        { partId: current.partId, version: BigInt(wanted), currentVersion: current.version?.version ?? 0n },
        { signal: context.signal },
      );
      if (restored.version !== undefined) context.out.object(shape(restored.version));
    },
  );
}

function schema(): Command {
  return leaf(
    new Command('schema').description('print the JSON Schema of configurations, for editors'),
    { examples: ['platform config schema > machine-config.schema.json'] },
    async ({ out }) => {
      const { machineConfigJsonSchema } = await import('@platform/machine-config/schema');
      out.raw(JSON.stringify(machineConfigJsonSchema, null, 2));
    },
  );
}

function numberOf(text: unknown): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new PlatformError('invalid_argument', `expected a whole number from 0, found "${String(text)}"`);
}
