/** `platform fragments`: shared pieces of configuration, their versions and tags. */
import { readFile } from 'node:fs/promises';
import { type Fragment, FragmentVisibility, type JsonObject, PlatformError } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { editText } from '../config/edit-text.ts';
import type { Context } from '../invocation/context.ts';
import { type Named, pick } from '../invocation/find.ts';
import { group, leaf } from '../invocation/leaf.ts';
import { timeOf } from '../invocation/shapes.ts';

const fields = ['id', 'name', 'visibility', 'revision', 'parts', 'last_updated', 'organization_id'];
const argument = ['<fragment>', 'name or id'] as const;
const visibilities: Readonly<Record<string, FragmentVisibility>> = {
  private: FragmentVisibility.PRIVATE,
  public: FragmentVisibility.PUBLIC,
  unlisted: FragmentVisibility.PUBLIC_UNLISTED,
};

export function fragmentsCommand(): Command {
  return group('fragments', 'shared pieces of configuration', [
    list(),
    get(),
    create(),
    edit(),
    set(),
    remove(),
    history(),
    usage(),
    tag(),
    untag(),
  ]);
}

function shape(one: Fragment): JsonObject {
  const visibility = Object.entries(visibilities).find(([, value]) => value === one.visibility)?.[0];
  return {
    id: one.id,
    name: one.name,
    visibility: visibility ?? 'unknown',
    revision: one.revision,
    parts: one.robotPartCount,
    last_updated: timeOf(one.lastUpdated),
    organization_id: one.organizationOwner,
  };
}

async function all({ cloud, find, signal }: Context, showPublic: boolean): Promise<readonly Fragment[]> {
  const { id: organizationId } = await find.organization();
  return (await (await cloud()).app.listFragments({ organizationId, showPublic }, { signal })).fragments;
}

async function named(context: Context, text: string): Promise<Named> {
  return /^[0-9a-f-]{36}$/i.test(text) ? { id: text, name: text } : pick('fragment', text, await all(context, true));
}

async function current(context: Context, text: string, version?: string): Promise<Fragment> {
  const { id } = await named(context, text);
  const { fragment } = await (await context.cloud()).app.getFragment(
    { id, ...(version === undefined ? {} : { version }) },
    { signal: context.signal },
  );
  if (fragment === undefined)
    throw new PlatformError('not_found', `fragment: expected one that you may see, found "${text}"`);
  return fragment;
}

const document = (fragment: Fragment): string => JSON.stringify(fragment.fragment ?? {}, null, 2);

function list(): Command {
  return leaf(
    new Command('list')
      .description('list the fragments of an organization')
      .option('--public', 'public ones of others, too'),
    { examples: ['platform fragments list', 'platform fragments list --public --json=id,name'], fields },
    async (context, flags) => {
      const fragments = await all(context, flags['public'] === true);
      context.out.rows(fragments.map(shape), ['name', 'id', 'visibility', 'parts', 'last_updated']);
    },
  );
}

function get(): Command {
  return leaf(
    new Command('get')
      .description('print a fragment')
      .argument(...argument)
      .option('--version <version>', 'a revision or tag (default: the newest)'),
    { examples: ['platform fragments get camera-kit', 'platform fragments get camera-kit --version stable'], fields },
    async (context, flags, text = '') => {
      const fragment = await current(context, text, flags['version'] as string | undefined);
      if (context.out.style.json === false) context.out.raw(document(fragment));
      else context.out.object({ ...shape(fragment), config: fragment.fragment ?? {} });
    },
  );
}

function visibilityOf(flag: unknown): { visibility?: FragmentVisibility } {
  if (flag === undefined) return {};
  const visibility = visibilities[String(flag)];
  if (visibility === undefined)
    throw new PlatformError(
      'invalid_argument',
      `--visibility: expected private, public or unlisted, found "${String(flag)}"`,
    );
  return { visibility };
}

function configFrom(text: string, where: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new PlatformError('invalid_argument', `${where}: expected a JSON object, found ${text.slice(0, 40)}`);
}

function create(): Command {
  return leaf(
    new Command('create')
      .description('make a fragment from a file')
      .argument('<name>')
      .argument('<file>', 'JSON; - reads standard input')
      .option('--visibility <visibility>', 'private, public or unlisted', 'private'),
    { examples: ['platform fragments create camera-kit kit.json'], fields },
    async (context, flags, name = '', file = '') => {
      const config = configFrom(await readFile(file === '-' ? '/dev/stdin' : file, 'utf8'), file);
      const { id: organizationId } = await context.find.organization();
      const { fragment } = await (await context.cloud()).app.createFragment(
        { name, config, organizationId, ...visibilityOf(flags['visibility']) },
        { signal: context.signal },
      );
      if (fragment !== undefined) context.out.object(shape(fragment));
    },
  );
}

async function save(
  context: Context,
  before: Fragment,
  change: { name?: string; config?: JsonObject; visibility?: FragmentVisibility },
): Promise<void> {
  const { fragment } = await (await context.cloud()).app.updateFragment(
    {
      id: before.id,
      name: change.name ?? before.name,
      config: change.config ?? before.fragment ?? {},
      ...(change.visibility === undefined ? {} : { visibility: change.visibility }),
      ...(before.lastUpdated === undefined ? {} : { lastKnownUpdate: before.lastUpdated }),
    },
    { signal: context.signal },
  );
  if (fragment !== undefined) context.out.object(shape(fragment));
}

function edit(): Command {
  return leaf(
    new Command('edit').description('edit a fragment with $VISUAL or $EDITOR').argument(...argument),
    { examples: ['platform fragments edit camera-kit'], fields },
    async (context, _flags, text = '') => {
      const before = await current(context, text);
      const problemsOf = async (edited: string): Promise<string[]> => {
        configFrom(edited, 'fragment');
        return [];
      };
      await editText(document(before), `${before.id}.json`, context, problemsOf, (edited) =>
        save(context, before, { config: configFrom(edited, 'fragment') }),
      );
    },
  );
}

function set(): Command {
  return leaf(
    new Command('set')
      .description('change the name, visibility or content of a fragment')
      .argument(...argument)
      .option('--name <name>', 'new name')
      .option('--visibility <visibility>', 'private, public or unlisted')
      .option('--file <file>', 'new content, JSON; - reads standard input'),
    {
      examples: [
        'platform fragments set camera-kit --file kit.json',
        'platform fragments set camera-kit --visibility public',
      ],
      fields,
    },
    async (context, flags, text = '') => {
      const before = await current(context, text);
      const file = flags['file'] as string | undefined;
      await save(context, before, {
        ...(flags['name'] === undefined ? {} : { name: String(flags['name']) }),
        ...visibilityOf(flags['visibility']),
        ...(file === undefined
          ? {}
          : { config: configFrom(await readFile(file === '-' ? '/dev/stdin' : file, 'utf8'), file) }),
      });
    },
  );
}

function remove(): Command {
  return leaf(
    new Command('delete').description('remove a fragment that no part uses').argument(...argument),
    { examples: ['platform fragments delete camera-kit'] },
    async (context, _flags, text = '') => {
      const { id, name } = await named(context, text);
      await context.agreed(`Delete the fragment "${name}" (${id}) with its versions?`);
      await (await context.cloud()).app.deleteFragment({ id }, { signal: context.signal });
      context.out.note(`fragment "${name}" is deleted`);
    },
  );
}

function history(): Command {
  return leaf(
    new Command('history').description('list the versions of a fragment, newest first').argument(...argument),
    { examples: ['platform fragments history camera-kit'], fields: ['revision', 'edited_on', 'edited_by'] },
    async (context, _flags, text = '') => {
      const { id } = await named(context, text);
      const rows: JsonObject[] = [];
      let pageToken = '';
      do {
        const page = await (await context.cloud()).app.getFragmentHistory(
          { id, ...(pageToken === '' ? {} : { pageToken }) },
          { signal: context.signal },
        );
        for (const entry of page.history)
          rows.push({
            revision: entry.revision,
            edited_on: timeOf(entry.editedOn),
            edited_by: entry.editedBy?.value ?? null,
          });
        pageToken = page.nextPageToken;
      } while (pageToken !== '');
      context.out.rows(rows, ['revision', 'edited_on', 'edited_by']);
    },
  );
}

function usage(): Command {
  return leaf(
    new Command('usage').description('show how many machines use each version of a fragment').argument(...argument),
    {
      examples: ['platform fragments usage camera-kit'],
      fields: ['version', 'organizations', 'machines', 'machines_in_current_org'],
    },
    async (context, _flags, text = '') => {
      const { id } = await named(context, text);
      const { versionUsages } = await (await context.cloud()).app.getFragmentUsage(
        { fragmentId: id },
        { signal: context.signal },
      );
      const rows = versionUsages.map((one) => ({
        version: one.version ?? null,
        organizations: one.organizations,
        machines: one.machines,
        machines_in_current_org: one.machinesInCurrentOrg,
      }));
      context.out.rows(rows, ['version', 'organizations', 'machines', 'machines_in_current_org']);
    },
  );
}

function tag(): Command {
  return leaf(
    new Command('tag')
      .description('give a version of a fragment a tag, or move the tag to it')
      .argument(...argument)
      .argument('<tag>')
      .option('--revision <revision>', 'default: the newest'),
    { examples: ['platform fragments tag camera-kit stable'] },
    async (context, flags, text = '', name = '') => {
      const fragment = await current(context, text);
      const revision = (flags['revision'] as string | undefined) ?? fragment.revision;
      await (await context.cloud()).app.setFragmentTag(
        { fragmentId: fragment.id, tag: name, revision },
        { signal: context.signal },
      );
      context.out.note(`"${name}" of the fragment "${fragment.name}" is revision ${revision}`);
    },
  );
}

function untag(): Command {
  return leaf(
    new Command('untag')
      .description('remove a tag from a fragment')
      .argument(...argument)
      .argument('<tag>'),
    { examples: ['platform fragments untag camera-kit stable'] },
    async (context, _flags, text = '', name = '') => {
      const { id } = await named(context, text);
      await (await context.cloud()).app.deleteFragmentTag({ fragmentId: id, tag: name }, { signal: context.signal });
      context.out.note(`the tag "${name}" is removed`);
    },
  );
}
