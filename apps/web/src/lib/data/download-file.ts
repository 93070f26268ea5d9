/** Downloads one file of the cloud. */
import type { Client } from '@connectrpc/connect';
import type { DataService } from '@platform/proto/platform/app/data/v1/data';
import type { StoredFile } from './files.ts';

/** How long the address of a download works. It ends with the session, too (D49). */
const downloadMinutes = 10;

/** Lets the browser download a file, whatever its size. @throws ConnectError */
export async function downloadFile(
  data: Pick<Client<typeof DataService>, 'createBinaryDataSignedURL'>,
  { id, name }: Pick<StoredFile, 'id' | 'name'>,
): Promise<void> {
  const { signedUrl } = await data.createBinaryDataSignedURL({ binaryDataId: id, expirationMinutes: downloadMinutes });
  const link = document.createElement('a');
  // The address has the public name of the cloud, which may differ from the name in the address bar.
  const { pathname, search } = new URL(signedUrl);
  link.href = pathname + search;
  link.download = name;
  link.click();
}
