/** `platform data delete`. */
import { invalidArgument } from '@platform/base/refusals';
import { type Cloud, type JsonObject, PlatformError, systemClock } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../invocation/define-command.ts';
import { wholeNumber } from '../invocation/whole-number.ts';
import { amount } from '../query/amounts.ts';
import { dataFilter, dataOptions } from './data-filter.ts';

const dryRunHeader = 'platform-dry-run';
const dayMs = 86_400_000;
/** The options that select readings, as the question names them. */
const words: Readonly<Record<string, string>> = {
  location: 'location',
  tags: 'tagged',
  machine: 'machine',
  part: 'part',
  resource: 'resource',
  type: 'type',
  method: 'method',
};

export function deleteCommand(): Command {
  return defineCommand(
    dataOptions(
      new Command('delete').description(
        'permanently delete readings from the cloud; shows how many before it asks; for owners',
      ),
      'core:component:sensor',
    )
      .option('--older-than-days <days>', 'captured at least this many whole UTC days ago; 1: before today')
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
      const { out } = context;
      const days = wholeNumber(flags['olderThanDays'], '--older-than-days') ?? 0;
      const told = Object.entries(words).flatMap(([name, what]) =>
        flags[name] === undefined ? [] : [`${what} "${flags[name]}"`],
      );
      const filter = told.length === 0 ? undefined : await dataFilter(context, flags);
      if (days === 0 && told.length === 0 && flags['all'] !== true)
        throw invalidArgument('expected options that select readings, or --all, found neither');
      const organization = await context.find.organization();
      const request = { organizationId: organization.id, deleteOlderThanDays: days, filter };
      const { data } = await context.cloud();
      const count = await counted(data, request);
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
      const { deletedCount } = await data.deleteTabularData(request, { timeoutMs: 0 });
      say(Number(deletedCount), `${amount(Number(deletedCount), 'reading')} deleted`);
    },
  );
}

/** How many readings would be deleted. @throws internal if the cloud does not confirm that it deleted nothing */
async function counted(
  data: Cloud['data'],
  request: Parameters<Cloud['data']['deleteTabularData']>[0],
): Promise<number> {
  let understood = false;
  const { deletedCount } = await data.deleteTabularData(request, {
    timeoutMs: 0,
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
