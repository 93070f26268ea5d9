/** `GET /logos/<id>`: the logo of an organization, for anyone with its address. */
import type { Database } from '../../metadata/tables.ts';
import { type Route, writeHead } from '../../wire/route.ts';

/** Nothing is sent if the logo does not exist. */
export function logoRoute(db: Database): Route {
  return async (request, response) => {
    const id = /^\/logos\/([A-Za-z0-9_-]{24})$/.exec(request.url ?? '')?.[1];
    if (id === undefined) return false;
    const row = await db
      .selectFrom('organization_logos')
      .select(['media_type', 'image'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined) return false;
    writeHead(response, 200, {
      'content-type': row.media_type,
      'content-length': row.image.byteLength,
      // The address changes with the image.
      'cache-control': 'public, max-age=86400, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
    }).end(request.method === 'HEAD' ? undefined : row.image);
    return true;
  };
}
