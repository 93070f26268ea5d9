/** `GET /metrics`: who may read the metrics of the installation. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { failedPrecondition, unauthenticated } from '@platform/base';
import type { HttpRequest, HttpResponse } from '../../wire/route.ts';
import { headerOf, sendText } from '../http.ts';

export interface MetricsRouteDeps {
  readonly text: () => Promise<string>;
  /** PLATFORM_METRICS_TOKEN. Undefined: only a cloud that listens on loopback serves metrics, without authentication. */
  readonly token: string | undefined;
  readonly loopbackOnly: boolean;
}

/** @throws unauthenticated without the token; failed_precondition if none is set and others could reach the cloud */
export function metricsRoute({
  text,
  token,
  loopbackOnly,
}: MetricsRouteDeps): (request: HttpRequest, response: HttpResponse) => Promise<void> {
  return async (request, response) => {
    if (token !== undefined) {
      if (!isSame(headerOf(request, 'authorization'), `Bearer ${token}`))
        throw unauthenticated(
          'metrics: expected "authorization: Bearer <PLATFORM_METRICS_TOKEN of the cloud>", found none or another',
        );
    } else if (!loopbackOnly)
      throw failedPrecondition(
        'metrics: this cloud listens on more than loopback and has no token for its metrics. Set PLATFORM_METRICS_TOKEN for the cloud, and send it as "authorization: Bearer <token>"',
      );
    sendText(response, 200, 'text/plain; version=0.0.4', await text());
  };
}

/** Takes the same time no matter where the texts differ. */
function isSame(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
