/** `platform data delete`. */
import { type JsonObject, PlatformError, systemClock, TagsFilterType } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { wholeNumber } from '../commands/config/configuration.ts';
import type { Context } from '../invocation/context.ts';
import { defineCommand, type Flags } from '../invocation/define-command.ts';
import { amount } from '../query/amounts.ts';
import { coreApi } from './core-api.ts';

const dryRunHeader = 'platform-dry-run';
const dayMs = 86_400_000;

export function deleteCommand(): Command {
  return defineCommand(
    new Command('delete')
      .description('permanently delete readings from the cloud; shows how many before it asks; for owners')
      .option('--older-than-days <days>', 'captured at least this many whole UTC days ago; 1: before today')
      .option('--part <part>', 'id, Machine/part, or a machine (for its main part)')
      .option('--machine <machine>', 'name, Location/name or id')
      .option('--location <location>', 'name, path or id; does not include locations below it')
      .option('--resource <name>', 'only of this resource')
      .option('--type <api>', 'only of resources of this type, such as core:component:sensor')
      .option('--method <name>', 'only of this capture method')
      .option('--tags <tags>', 'only with one of these tags, separated by commas')
      .option('--all', 'every reading of the organization, if no other option selects readings')
      .option('--dry-run', 'only show how many readings would be deleted'),
    {
      examples: [
        'platform data delete --part press-7 --older-than-days 90 --dry-run',
        'platform data delete --part press-7 --resource oven --method Readings',
        'platform data delete --older-than-days 365 --yes',
      ],
      fields: ['readings', 'deleted', 'captured_before'],
    },
    async (context, flags) => {
      const { out, signal } = context;
      const days = wholeNumber(flags['olderThanDays'], '--older-than-days') ?? 0;
      const { filter, told } = await filterOf(context, flags);
      if (days === 0 && told.length === 0 && flags['all'] !== true)
        throw new PlatformError('invalid_argument', 'expected options that select readings, or --all, found neither');
      const organization = await context.find.organization();
      const request = {
        organizationId: organization.id,
        deleteOlderThanDays: days,
        ...(told.length === 0 ? {} : { filter }),
      };
      const { data } = await context.cloud();
      const count = await counted((options) => data.deleteTabularData(request, { signal, timeoutMs: 0, ...options }));
      const before =
        days === 0
          ? null
          : new Date((Math.floor(systemClock.now() / dayMs) - days + 1) * dayMs).toISOString().slice(0, 10);
      const which = [...told, ...(before === null ? [] : [`captured before ${before} (UTC)`])].join(', ');
      const what = `${amount(count, 'reading')} of the organization "${organization.name}"${which === '' ? '' : `: ${which}`}`;
      const result = (deleted: number): JsonObject => ({ readings: count, deleted, captured_before: before });
      const say = (deleted: number, text: string): void => {
        if (out.style.json === false) out.note(text);
        else out.object(result(deleted));
      };
      if (flags['dryRun'] === true) return say(0, `${what}; nothing was deleted (--dry-run)`);
      if (count === 0) return say(0, `${what}; there is nothing to delete`);
      await context.confirm(`Delete ${what}? This cannot be undone.`);
      const { deletedCount } = await data.deleteTabularData(request, { signal, timeoutMs: 0 });
      say(Number(deletedCount), `${amount(Number(deletedCount), 'reading')} deleted`);
    },
  );
}

interface DryRunOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly onHeader: (headers: Headers) => void;
}

/** How many readings would be deleted. @throws internal if the cloud does not confirm that it deleted nothing */
async function counted(ask: (options: DryRunOptions) => Promise<{ readonly deletedCount: bigint }>): Promise<number> {
  let understood = false;
  const { deletedCount } = await ask({
    headers: { [dryRunHeader]: 'true' },
    onHeader: (headers) => {
      understood = headers.get(dryRunHeader) === 'true';
    },
  });
  if (understood) return Number(deletedCount);
  throw new PlatformError(
    'internal',
    `this cloud does not support dry runs: it may have deleted ${deletedCount} readings already`,
  );
}

/** The filter, and its description in words. */
async function filterOf({ find }: Context, flags: Flags): Promise<{ filter: Filter; told: readonly string[] }> {
  const told: string[] = [];
  const text = (name: string, what: string): string => {
    if (flags[name] === undefined) return '';
    told.push(`${what} "${String(flags[name])}"`);
    return String(flags[name]);
  };
  const named = async (name: 'part' | 'machine' | 'location'): Promise<string> => {
    const given = text(name, name);
    return given === '' ? '' : (await find[name](given)).id;
  };
  const location = await named('location');
  const tags = text('tags', 'tagged')
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  const filter = {
    locationIds: location === '' ? [] : [location],
    robotId: await named('machine'),
    partId: await named('part'),
    componentName: text('resource', 'resource'),
    componentType: coreApi(text('type', 'type')),
    method: text('method', 'method'),
    ...(tags.length === 0 ? {} : { tagsFilter: { type: TagsFilterType.MATCH_BY_OR, tags } }),
  };
  return { filter, told };
}

interface Filter {
  readonly locationIds: string[];
  readonly robotId: string;
  readonly partId: string;
  readonly componentName: string;
  readonly componentType: string;
  readonly method: string;
  readonly tagsFilter?: { readonly type: TagsFilterType; readonly tags: string[] };
}
