/** The part of the time that charts show: one for all charts of a page, and none on the next page. */

import type { Span } from '../range/span.ts';
import { followed } from '../ui/followed.ts';

/** In seconds since 1970. */
export interface Zoom {
  readonly min: number;
  readonly max: number;
}

const kept = followed<(Zoom & { readonly page: string }) | undefined>(() => undefined);

/** @param page its path. Whoever reads it in an effect follows changes */
export function zoomOf(page: string): Zoom | undefined {
  const zoom = kept.get();
  return zoom?.page === page ? zoom : undefined;
}

/** @param zoom undefined: all that is loaded */
export function setZoom(page: string, zoom: Zoom | undefined): void {
  kept.set(zoom && { ...zoom, page });
}

/** Whole seconds that contain the part. */
export function spanOfZoom({ min, max }: Zoom): Span {
  return { from: new Date(Math.floor(min) * 1_000), until: new Date((Math.floor(max) + 1) * 1_000) };
}
