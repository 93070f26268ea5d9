/** The MIME type and extension of an uploaded file, as far as its sender provided them. */
import { MimeType } from '@platform/proto/platform/app/datasync/v1/data_sync';

export const unknownType = 'application/octet-stream';

/** Types by extension, for public clients that send no type. */
const typeOfExtension: Readonly<Record<string, string>> = {
  '.avi': 'video/x-msvideo',
  '.bmp': 'image/bmp',
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.mov': 'video/quicktime',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.pcd': 'pointcloud/pcd',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.qoi': 'image/qoi',
  '.tiff': 'image/tiff',
  '.txt': 'text/plain',
  '.wav': 'audio/wav',
  '.webp': 'image/webp',
  '.zip': 'application/zip',
};

const typeOfNumber: Readonly<Record<MimeType, string>> = {
  [MimeType.UNSPECIFIED]: '',
  [MimeType.IMAGE_JPEG]: 'image/jpeg',
  [MimeType.IMAGE_PNG]: 'image/png',
  [MimeType.APPLICATION_PCD]: 'pointcloud/pcd',
  [MimeType.VIDEO_MP4]: 'video/mp4',
};

const extensionOfType: Readonly<Record<string, string>> = {
  'image/jpeg': '.jpeg',
  'image/png': '.png',
  'pointcloud/pcd': '.pcd',
  'video/mp4': '.mp4',
};

/** One type and subtype without parameters; anything else must not become a header. */
const plainType = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/;

/** @param given by the sender, best first */
export function mimeTypeOf(given: readonly string[], numbered: MimeType | undefined, extension: string): string {
  const named = given
    .map((type) => type.split(';')[0]?.trim().toLowerCase() ?? '')
    .find((type) => plainType.test(type));
  return named ?? (typeOfNumber[numbered ?? MimeType.UNSPECIFIED] || (typeOfExtension[extension] ?? unknownType));
}

/** Including the dot, in lower case; empty: none. */
export function extensionOf(extension: string, fileName: string, mimeType: string): string {
  const given = extension === '' ? (/\.[^./\\]+$/.exec(fileName)?.[0] ?? '') : extension;
  const plain = given
    .toLowerCase()
    .replace(/^\.+/, '')
    .replace(/[^a-z0-9_-]/g, '')
    .slice(0, 16);
  return plain === '' ? (extensionOfType[mimeType.toLowerCase()] ?? '') : `.${plain}`;
}
