/** Asks the cloud for pictures and files, a page at a time. */
import { DataService, Order, TagsFilterType } from '@platform/proto/platform/app/data/v1/data';
import { clientOf } from '../api/clients.ts';
import { fileOf, type StoredFile } from './files.ts';

export interface FileFilter {
  readonly organizationId: string;
  readonly component: string;
  readonly tag: string;
  readonly datasetId: string;
}

export interface FilePage {
  readonly files: readonly StoredFile[];
  /** For the next page; empty: there is none. */
  readonly last: string;
}

export const filesPerPage = 24;
export const data = clientOf(DataService);

/** How long the address of a download works. It ends with the session, too. */
const downloadMinutes = 10;

/** Lets the browser download a file, whatever its size. @throws ConnectError */
export async function downloadFile({ id, name }: StoredFile): Promise<void> {
  const { signedUrl } = await data.createBinaryDataSignedURL({ binaryDataId: id, expirationMinutes: downloadMinutes });
  const link = document.createElement('a');
  // The address has the public name of the cloud, which may differ from the name in the address bar.
  const { pathname, search } = new URL(signedUrl);
  link.href = pathname + search;
  link.download = name;
  link.click();
}

/** Newest first. @param last of the page before; empty: the first page */
export async function loadFiles(filter: FileFilter, last: string, signal?: AbortSignal): Promise<FilePage> {
  const { organizationId, component, tag, datasetId } = filter;
  const answer = await data.binaryDataByFilter(
    {
      dataRequest: {
        filter: {
          ...{ organizationIds: [organizationId], componentName: component, datasetId },
          ...(tag !== '' && { tagsFilter: { type: TagsFilterType.MATCH_BY_OR, tags: [tag] } }),
        },
        limit: BigInt(filesPerPage),
        last,
        sortOrder: Order.DESCENDING,
      },
    },
    signal ? { signal } : {},
  );
  const files = answer.data.flatMap(({ metadata }) => (metadata ? [fileOf(metadata)] : []));
  return { files, last: files.length < filesPerPage ? '' : answer.last };
}
