/** `platform config`: the versioned configuration of a part: read, edit, validate, compare, restore. */
import { aborted, invalidArgument } from '@platform/base/refusals';
import { diff, diffLines } from '@platform/machine-config/diff';
import type { JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand, defineLocalCommand, group } from '../../invocation/define-command.ts';
import { editText } from '../../invocation/edit-text.ts';
import { parseObject, readInput } from '../../invocation/input.ts';
import { readPages } from '../../invocation/read-pages.ts';
import { shellWord } from '../../invocation/shell-word.ts';
import { wholeNumber } from '../../invocation/whole-number.ts';
import { withHints } from '../../results/with-hints.ts';
import { parsed, partArgument, readConfiguration, requireDocumentSize, versionResult } from './configuration.ts';
import { problemsOf, save } from './save.ts';

export function configCommand(): Command {
  return group('config', 'versioned configuration of a part', [
    getCommand(),
    editCommand(),
    setCommand(),
    validateCommand(),
    compareCommand(),
    historyCommand(),
    restoreCommand(),
    schemaCommand(),
  ]);
}

function getCommand(): Command {
  return defineCommand(
    new Command('get')
      .description('print the configuration of a part')
      .argument(...partArgument)
      .option('--version <number>', 'an earlier version')
      .option('--effective', 'with fragments resolved, as the part receives it'),
    {
      examples: [
        'platform config get press-7',
        'platform config get press-7 --version 3',
        'platform config get press-7 --effective --json=components',
      ],
      fields: ['the fields of the configuration'],
    },
    async (context, flags, part = '') => {
      const found = await readConfiguration(context, part, wholeNumber(flags['version'], '--version'));
      const effective = flags['effective'] === true;
      if (effective && found.effective === undefined)
        throw invalidArgument('--effective: expected the current version, found an earlier one');
      const text = (effective ? found.effective : found.text) ?? found.text;
      // The document itself, so that `config set` accepts the output.
      context.out.document(parseObject(text, 'configuration'));
    },
  );
}

function setCommand(): Command {
  return defineCommand(
    new Command('set')
      .description('save a file as the configuration of a part')
      .argument(...partArgument)
      .argument('<file>', 'JSON; - reads standard input')
      .option('--if-version <number>', 'save only if this version is still the current one'),
    {
      examples: [
        'platform config set press-7 press.json --yes',
        'platform config set press-7 - --if-version 12 --yes < press.json',
      ],
      fields: versionResult.fields,
    },
    async (context, flags, part = '', file = '') => {
      const text = await readInput(file, context.invocation);
      requireDocumentSize(text, file === '-' ? 'standard input' : file);
      const before = await readConfiguration(context, part);
      const expected = wholeNumber(flags['ifVersion'], '--if-version');
      if (expected !== undefined && BigInt(expected) !== before.version?.version) {
        throw aborted(
          `configuration of ${part}: expected version ${expected} to be the current one, found ${before.version?.version}. See what changed with: platform config diff ${shellWord(part)} ${expected}`,
        );
      }
      await save(context, before, text, await problemsOf(context, before.partId, text));
    },
  );
}

function editCommand(): Command {
  return defineCommand(
    new Command('edit')
      .description(
        'edit the configuration of a part in $VISUAL or $EDITOR; changes are validated and shown before they are saved',
      )
      .argument(...partArgument),
    {
      examples: ['platform config edit press-7', 'EDITOR=nano platform config edit press-7/gripper'],
      fields: versionResult.fields,
    },
    async (context, _flags, part = '') => {
      const before = await readConfiguration(context, part);
      // Problems of the last text from the editor: the cloud is asked once per text.
      let problems: Awaited<ReturnType<typeof problemsOf>> = [];
      const errorsOf = async (edited: string): Promise<string[]> => {
        problems = await problemsOf(context, before.partId, edited);
        return problems.filter((one) => one.severity === 'error').map((one) => `${one.path}: ${one.message}`);
      };
      const kept = { name: `${before.partId}.json`, saving: `platform config set ${shellWord(part)}` };
      await editText(before.text, kept, context, errorsOf, (text) => save(context, before, text, problems));
    },
  );
}

function validateCommand(): Command {
  return defineCommand(
    new Command('validate')
      .description('check a configuration for mistakes without saving it')
      .argument(...partArgument)
      .argument('[file]', 'JSON; - reads standard input (default: the saved configuration)'),
    {
      examples: ['platform config validate press-7 press.json', 'platform config validate press-7'],
      fields: ['severity', 'path', 'message'],
    },
    async (context, _flags, part = '', file = undefined) => {
      const before = await readConfiguration(context, part);
      const document = file === undefined ? before.text : await readInput(file, context.invocation);
      requireDocumentSize(document, file === undefined || file === '-' ? 'configuration' : file);
      const { problems, revision } = await (await context.cloud()).fleet.validateConfiguration({
        partId: before.partId,
        document,
      });
      const rows = problems.map(({ severity, path, message }) => withHints(context.out, { severity, path, message }));
      if (rows.length > 0 || context.out.style.json !== false) context.out.rows(rows, ['severity', 'path', 'message']);
      const errors = rows.filter((row) => row.severity === 'error').length;
      if (errors > 0) throw invalidArgument(`${errors} ${errors === 1 ? 'error' : 'errors'}`);
      const warnings = rows.length === 0 ? '' : ` with ${rows.length} ${rows.length === 1 ? 'warning' : 'warnings'}`;
      context.out.note(`valid${warnings} (revision ${revision})`);
    },
  );
}

function compareCommand(): Command {
  return defineCommand(
    new Command('diff')
      .description('show what changed between two versions, or between a version and a file')
      .argument(...partArgument)
      .argument('[from]', 'version (default: the one before the current version)')
      .argument('[to]', 'version (default: the current version)')
      .option('--file <file>', 'compare the current version with this file'),
    {
      examples: [
        'platform config diff press-7',
        'platform config diff press-7 3 7',
        'platform config diff press-7 --file press.json',
      ],
      fields: ['kind', 'path', 'of', 'before', 'after', 'to'],
    },
    async (context, flags, part = '', from = undefined, to = undefined) => {
      const current = await readConfiguration(context, part, wholeNumber(to, 'to'));
      const file = flags['file'] as string | undefined;
      const at = Number(current.version?.version ?? 0);
      const older =
        file === undefined
          ? await readConfiguration(context, part, wholeNumber(from, 'from') ?? Math.max(0, at - 1))
          : current;
      const newer = file === undefined ? current.text : await readInput(file, context.invocation);
      const changes = diff(parsed(older.text), parsed(newer, file ?? 'configuration'));
      if (context.out.style.json !== false) {
        context.out.rows(
          changes.map((change) => ({ ...change, path: [...change.path], of: [...change.of] }) as JsonObject),
          [],
        );
        return;
      }
      for (const line of diffLines(changes)) context.out.raw(line);
      if (changes.length === 0) context.out.note('no differences');
    },
  );
}

function historyCommand(): Command {
  return defineCommand(
    new Command('history')
      .description('list the versions of the configuration of a part, newest first')
      .argument(...partArgument)
      .option('--limit <number>', 'maximum number of versions', '50'),
    {
      examples: ['platform config history press-7', 'platform config history press-7 --limit 500 --json'],
      fields: versionResult.fields,
    },
    async ({ cloud, find, out }, flags, part = '') => {
      const { id } = await find.part(part);
      const { fleet } = await cloud();
      const limit = wholeNumber(flags['limit'], '--limit') ?? 50;
      const versions = await readPages(limit, 500, async (pageLimit, pageToken) => {
        const page = await fleet.listConfigurationVersions({ partId: id, pageLimit, pageToken });
        return { items: page.versions, nextPageToken: page.nextPageToken };
      });
      out.rows(versions.map(versionResult.shape), ['version', 'saved_at', 'author', 'bytes', 'restored_from']);
    },
  );
}

function restoreCommand(): Command {
  return defineCommand(
    new Command('restore')
      .description('save an earlier version as the new current one')
      .argument(...partArgument)
      .argument('<version>'),
    { examples: ['platform config restore press-7 3'], fields: versionResult.fields },
    async (context, _flags, part = '', version = '') => {
      const current = await readConfiguration(context, part);
      const wanted = wholeNumber(version, 'version') ?? 0;
      const old = await readConfiguration(context, part, wanted);
      const changes = diff(parsed(current.text), parsed(old.text));
      if (changes.length === 0)
        return context.out.note(`version ${wanted} is the same as the current one; nothing was saved`);
      for (const line of diffLines(changes)) context.out.note(line);
      await context.confirm(`Restore version ${wanted} of the part "${current.partName}"?`);
      const restored = await (await context.cloud()).fleet.restoreConfigurationVersion({
        partId: current.partId,
        version: BigInt(wanted),
        currentVersion: current.version?.version ?? 0n,
      });
      if (restored.version !== undefined) context.out.object(versionResult.shape(restored.version));
    },
  );
}

function schemaCommand(): Command {
  return defineLocalCommand(
    new Command('schema').description('print the JSON Schema of configurations, for use in editors'),
    { examples: ['platform config schema > machine-config.schema.json'], fields: ['the keywords of JSON Schema'] },
    async ({ out }) => {
      const { machineConfigJsonSchema } = await import('@platform/machine-config/schema');
      out.document(machineConfigJsonSchema as JsonObject);
    },
  );
}
