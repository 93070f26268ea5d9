/** Selection of files: the options, their filter on the wire, and the pages of matching files. */
import {
  type BinaryMetadata,
  type Cloud,
  type Filter,
  type JsonObject,
  Order,
  TagsFilterType,
  timestampFromDate,
} from '@platform/sdk/cloud';
import type { Command } from 'commander';
import type { Context } from '../../invocation/context.ts';
import type { Flags } from '../../invocation/define-command.ts';
import { timeBefore } from '../../invocation/parse-time.ts';
import { timeOf } from '../../invocation/presenters.ts';
import { coreApi } from '../core-api.ts';

const pageSize = 500;

export function filterOptions(command: Command): Command {
  return command
    .option('--part <part>', 'id, Machine/part, or a machine (for its main part)')
    .option('--machine <machine>', 'name, Location/name or id')
    .option('--location <location>', 'name, path or id')
    .option('--resource <name>', 'only of this resource')
    .option('--type <api>', 'only of resources of this type, such as core:component:camera')
    .option('--method <name>', 'only of this capture method')
    .option('--mime <types>', 'only of these types, such as image/png,image/jpeg')
    .option('--tags <tags>', 'only with one of these tags, separated by commas')
    .option('--labels <labels>', 'only with a bounding box that has one of these labels')
    .option('--dataset <id>', 'only of this dataset')
    .option('--from <when>', 'captured since then: a duration such as 24h, or a time')
    .option('--to <when>', 'captured before then: a duration such as 1h, or a time');
}

/** The fields of a Filter that the options set, within the selected organization. */
export async function filterOf({ find }: Context, flags: Flags): Promise<Partial<Filter>> {
  const text = (name: string): string => (flags[name] === undefined ? '' : String(flags[name]));
  const list = (name: string): string[] =>
    text(name)
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '');
  const named = async (name: 'part' | 'machine' | 'location'): Promise<string> =>
    text(name) === '' ? '' : (await find[name](text(name))).id;
  const time = (name: 'from' | 'to') => timestampFromDate(timeBefore(text(name), `--${name}`));
  const location = await named('location');
  const tags = list('tags');
  return {
    organizationIds: [(await find.organization()).id],
    locationIds: location === '' ? [] : [location],
    robotId: await named('machine'),
    partId: await named('part'),
    componentName: text('resource'),
    componentType: coreApi(text('type')),
    method: text('method'),
    mimeType: list('mime'),
    bboxLabels: list('labels'),
    datasetId: text('dataset'),
    ...(tags.length === 0
      ? {}
      : { tagsFilter: { type: TagsFilterType.MATCH_BY_OR, tags } as Filter['tagsFilter'] & object }),
    ...(text('from') === '' && text('to') === ''
      ? {}
      : {
          interval: {
            ...(text('from') === '' ? {} : { start: time('from') }),
            ...(text('to') === '' ? {} : { end: time('to') }),
          } as Filter['interval'] & object,
        }),
  };
}

/** The files that match, page by page. @param most the maximum number of files */
export async function* filesFound(
  data: Cloud['data'],
  filter: Partial<Filter>,
  { most, oldestFirst, signal }: { readonly most: number; readonly oldestFirst: boolean; readonly signal: AbortSignal },
): AsyncGenerator<BinaryMetadata> {
  let last = '';
  for (let left = most; left > 0; ) {
    const limit = BigInt(Math.min(left, pageSize));
    const sortOrder = oldestFirst ? Order.ASCENDING : Order.DESCENDING;
    const page = await data.binaryDataByFilter(
      { dataRequest: { filter: filter as Filter, limit, last, sortOrder } },
      { signal },
    );
    for (const { metadata } of page.data) if (metadata !== undefined) yield metadata;
    left -= page.data.length;
    last = page.last;
    if (page.data.length === 0 || last === '') return;
  }
}

export const fileFields: readonly string[] = [
  'id',
  'file_name',
  'mime_type',
  'bytes',
  'time_requested',
  'time_received',
  'location_id',
  'machine',
  'part_id',
  'part',
  'type',
  'resource',
  'method',
  'tags',
  'dataset_ids',
];

export function fileShape(one: BinaryMetadata): JsonObject {
  const from = one.captureMetadata;
  return {
    id: one.binaryDataId,
    file_name: one.fileName,
    mime_type: from?.mimeType ?? '',
    bytes: Number(one.fileSizeBytes),
    time_requested: timeOf(one.timeRequested),
    time_received: timeOf(one.timeReceived),
    location_id: from?.locationId ?? '',
    machine: from?.robotName ?? '',
    part_id: from?.partId ?? '',
    part: from?.partName ?? '',
    type: from?.componentType ?? '',
    resource: from?.componentName ?? '',
    method: from?.methodName ?? '',
    tags: from?.tags ?? [],
    dataset_ids: one.datasetIds,
  };
}
