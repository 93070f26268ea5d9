/** The part of the time that charts show: one for all charts of a page, and none on the next page. */
import { createSubscriber } from 'svelte/reactivity';

/** In seconds since 1970. */
export interface Zoom {
  readonly min: number;
  readonly max: number;
}

const readers = new Set<() => void>();
const follow = createSubscriber((update) => {
  readers.add(update);
  return () => readers.delete(update);
});
let kept: (Zoom & { readonly page: string }) | undefined;

/** @param page its path. Whoever reads it in an effect follows changes */
export function zoomOf(page: string): Zoom | undefined {
  follow();
  return kept?.page === page ? kept : undefined;
}

/** @param zoom undefined: all that is loaded */
export function setZoom(page: string, zoom: Zoom | undefined): void {
  kept = zoom && { ...zoom, page };
  for (const update of readers) update();
}
