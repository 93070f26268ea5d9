/** Selection of captured data: the options that readings and files share, and their filter on the wire. */
import { type Cloud, TagsFilterType } from '@platform/sdk/cloud';
import type { Command } from 'commander';
import type { Context } from '../invocation/context.ts';
import type { Flags } from '../invocation/define-command.ts';

/** Fields that the filters of readings and of files share. */
type FilterFields = Extract<Parameters<Cloud['data']['deleteTabularData']>[0]['filter'], { $typeName?: never }>;

/** @param example an API name */
export function dataOptions(command: Command, example: string): Command {
  return command
    .option('--part <part>', 'id, Machine/part, or a machine (for its main part)')
    .option('--machine <machine>', 'name, Location/name or id')
    .option('--location <location>', 'name, path or id; does not include locations below it')
    .option('--resource <name>', 'only of this resource')
    .option('--type <api>', `only of resources of this type, such as ${example}`)
    .option('--method <name>', 'only of this capture method')
    .option('--tags <tags>', 'only with one of these tags, separated by commas');
}

export async function dataFilter({ find }: Context, flags: Flags): Promise<FilterFields> {
  const idOf = async (name: 'part' | 'machine' | 'location'): Promise<string | undefined> =>
    flags[name] === undefined ? undefined : (await find[name](flags[name])).id;
  const location = await idOf('location');
  const tags = listOf(flags['tags']);
  return {
    locationIds: location === undefined ? [] : [location],
    robotId: (await idOf('machine')) ?? '',
    partId: (await idOf('part')) ?? '',
    componentName: String(flags['resource'] ?? ''),
    componentType: coreApi(flags['type'] ?? ''),
    method: String(flags['method'] ?? ''),
    tagsFilter: tags.length === 0 ? undefined : { type: TagsFilterType.MATCH_BY_OR, tags },
  };
}

/** The values of an option that are separated by commas. */
export function listOf(text: string | undefined): string[] {
  const parts = (text ?? '').split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '');
}

/** An API name as the cloud sends it to us: configurations may also use `rdk:component:sensor`. */
export function coreApi(text: string): string {
  return text.replace(/^rdk:/, 'core:');
}
