/** Selection of files: the options, their filter on the wire, and the pages of matching files. */
import { type BinaryMetadata, type Cloud, Order, timestampFromDate } from '@platform/sdk/cloud';
import type { Command } from 'commander';
import type { Context } from '../../invocation/context.ts';
import type { Flags } from '../../invocation/define-command.ts';
import { pick } from '../../invocation/find.ts';
import { sinceAndUntil } from '../../invocation/time-range.ts';
import { type Presenter, presenter, timeOf } from '../../results/presenters.ts';
import { dataFilter, dataOptions, listOf } from '../data-filter.ts';

const pageSize = 500;

type Request = Exclude<Parameters<Cloud['data']['binaryDataByFilter']>[0]['dataRequest'], undefined>;

export function filterOptions(command: Command): Command {
  return dataOptions(command, 'core:component:camera')
    .option('--mime <types>', 'only of these types, such as image/png,image/jpeg')
    .option('--labels <labels>', 'only with a bounding box that has one of these labels')
    .option('--dataset <dataset>', 'name or id: only of this dataset')
    .option('--since <when>', 'captured since this time: a duration such as 24h, or a time')
    .option('--until <when>', 'captured before this time: a duration such as 1h, or a time');
}

/** The fields of a Filter that the options set, within the selected organization. */
export async function filterOf(context: Context, flags: Flags): Promise<Request['filter']> {
  const [start, end] = sinceAndUntil(flags).map((at) => at && timestampFromDate(at));
  return {
    ...(await dataFilter(context, flags)),
    organizationIds: [(await context.find.organization()).id],
    mimeType: listOf(flags['mime']),
    bboxLabels: listOf(flags['labels']),
    datasetId: flags['dataset'] === undefined ? '' : await datasetId(context, String(flags['dataset'])),
    interval: start || end ? { start, end } : undefined,
  };
}

async function datasetId({ cloud, find }: Context, text: string): Promise<string> {
  const { id: organizationId } = await find.organization();
  const { datasets } = await (await cloud()).datasets.listDatasetsByOrganizationID({ organizationId });
  return pick('dataset', text, datasets).id;
}

/** The files that match, page by page. @param most the maximum number of files */
export async function* filesFound(
  data: Cloud['data'],
  filter: Request['filter'],
  { most, oldestFirst }: { readonly most: number; readonly oldestFirst: boolean },
): AsyncGenerator<BinaryMetadata> {
  let last = '';
  for (let left = most; left > 0; ) {
    const limit = BigInt(Math.min(left, pageSize));
    const sortOrder = oldestFirst ? Order.ASCENDING : Order.DESCENDING;
    const page = await data.binaryDataByFilter({ dataRequest: { filter, limit, last, sortOrder } });
    for (const { metadata } of page.data) if (metadata !== undefined) yield metadata;
    left -= page.data.length;
    last = page.last;
    if (page.data.length === 0 || last === '') return;
  }
}

export const fileResult: Presenter<BinaryMetadata> = presenter({
  id: (one) => one.binaryDataId,
  file_name: (one) => one.fileName,
  mime_type: (one) => one.captureMetadata?.mimeType ?? '',
  bytes: (one) => Number(one.fileSizeBytes),
  time_requested: (one) => timeOf(one.timeRequested),
  time_received: (one) => timeOf(one.timeReceived),
  location_id: (one) => one.captureMetadata?.locationId ?? '',
  machine: (one) => one.captureMetadata?.robotName ?? '',
  part_id: (one) => one.captureMetadata?.partId ?? '',
  part: (one) => one.captureMetadata?.partName ?? '',
  type: (one) => one.captureMetadata?.componentType ?? '',
  resource: (one) => one.captureMetadata?.componentName ?? '',
  method: (one) => one.captureMetadata?.methodName ?? '',
  tags: (one) => one.captureMetadata?.tags ?? [],
  dataset_ids: (one) => one.datasetIds,
});
