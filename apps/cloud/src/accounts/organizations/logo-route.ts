/** `GET /logos/<id>`: the logo of an organization, for anyone with its address. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Database } from '../../metadata/tables.ts';

/** Resolves to true if it handled the request; false if the logo does not exist, and then nothing was sent. */
export type LogoRoute = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => Promise<boolean>;

export function logoRoute(db: Database): LogoRoute {
  return async (request, response) => {
    const id = /^\/logos\/([A-Za-z0-9_-]{24})$/.exec(request.url ?? '')?.[1];
    if (id === undefined) return false;
    const row = await db
      .selectFrom('organization_logos')
      .select(['media_type', 'image'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined) return false;
    // The two response classes share these methods, but their overloads differ.
    const plain = response as ServerResponse;
    plain.writeHead(200, {
      'content-type': row.media_type,
      'content-length': row.image.byteLength,
      // The address changes with the image.
      'cache-control': 'public, max-age=86400, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
    });
    plain.end(request.method === 'HEAD' ? undefined : row.image);
    return true;
  };
}
