/** `platform data retention`: how long the cloud keeps the data of a part. */

import { invalidArgument } from '@platform/base/refusals';
import { type JsonObject, systemClock } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { partArgument, readConfiguration, versionResult } from '../commands/config/configuration.ts';
import { problemsOf, save } from '../commands/config/save.ts';
import { defineCommand, group } from '../invocation/define-command.ts';
import { parseObject } from '../invocation/input.ts';

const fields = [
  'resource',
  'type',
  'effective_days',
  'own_days',
  'part_days',
  'binary_limit_gb',
  'tabular_limit_gb',
  'recent_hours',
];
const dayMs = 86_400_000;
const key = 'data_retention_policy';

export function retentionCommand(): Command {
  return group('retention', 'how long the cloud keeps the data of a part', [get(), set()]);
}

function get(): Command {
  return defineCommand(
    new Command('get')
      .description(
        'show how long the data of each resource of a part is kept: its own or the part’s number of days, whichever is smaller',
      )
      .argument(...partArgument),
    {
      examples: [
        'platform data retention get press-7',
        'platform data retention get press-7 --json=resource,effective_days',
      ],
      fields,
    },
    async (context, _flags, part = '') => {
      const { readDataPolicies } = await import('@platform/machine-config/data-policies');
      const { effective, text } = await readConfiguration(context, part);
      const rows = await retentionRows(parseObject(effective ?? text, 'configuration'));
      context.out.rows(rows, fields);
      const days = readDataPolicies(parseObject(effective ?? text, 'configuration')).days;
      const own =
        parseObject(text, 'configuration')[key] === undefined && days !== undefined ? ' (from a fragment)' : '';
      context.out.note(
        days === undefined ? 'the part has no limit of its own' : `the part keeps data for ${days} days${own}`,
      );
    },
  );
}

/** Every resource of the effective configuration; null: no limit. */
export async function retentionRows(effective: JsonObject): Promise<JsonObject[]> {
  // The configuration parser takes a while to load, and no other command needs it.
  const { parse } = await import('@platform/machine-config/parse');
  const { readDataPolicies, retentionDaysOf } = await import('@platform/machine-config/data-policies');
  const policies = readDataPolicies(effective);
  const { config } = parse(effective);
  return [...config.components, ...config.services].map((resource) => {
    const isIt = (one: { readonly api: string; readonly name: string }): boolean =>
      one.api === resource.api && one.name === resource.name;
    const own = policies.resources.find(isIt);
    const hours = policies.recent.filter(isIt).map(({ storedHours }) => storedHours);
    return {
      resource: resource.name,
      type: resource.api,
      effective_days: retentionDaysOf(policies, resource) ?? null,
      own_days: own?.days ?? null,
      part_days: policies.days ?? null,
      binary_limit_gb: own?.binaryLimitGb ?? null,
      tabular_limit_gb: own?.tabularLimitGb ?? null,
      recent_hours: hours.length === 0 ? null : Math.max(...hours),
    };
  });
}

function set(): Command {
  return defineCommand(
    new Command('set')
      .description('set for how many days the data of a part is kept; older data is permanently deleted')
      .argument(...partArgument)
      .argument('<days>', 'whole UTC days, at least 1; none: no limit for the part'),
    {
      examples: ['platform data retention set press-7 90', 'platform data retention set press-7 none --yes'],
      fields: versionResult.fields,
    },
    async (context, _flags, part = '', text = '') => {
      const days = daysOf(text);
      const before = await readConfiguration(context, part);
      const { [key]: _old, ...rest } = parseObject(before.text, 'configuration');
      const document = days === undefined ? rest : { ...rest, [key]: { days } };
      if (days !== undefined) {
        const kept = new Date((Math.floor(systemClock.now() / dayMs) - days + 1) * dayMs).toISOString().slice(0, 10);
        context.out.note(
          `Data captured before ${kept} (UTC) will be deleted. From then on, data is deleted once it is ${days} ${days === 1 ? 'day' : 'days'} old.`,
        );
      }
      const edited = JSON.stringify(document, null, 2);
      await save(context, before, edited, await problemsOf(context, before.partId, edited));
    },
  );
}

/** @returns undefined for none. @throws invalid_argument */
function daysOf(text: string): number | undefined {
  if (text === 'none') return undefined;
  const days = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (days > 0) return days;
  throw invalidArgument(`days: expected a whole number from 1, or none, found "${text}"`);
}
