import { replaceState } from '$app/navigation';
import { page } from '$app/state';

/** Keeps what a page shows in its address, so that it can be shared and reloaded. @param value empty: the address does not name it */
export function keepInUrl(name: string, value: string): void {
  const url = new URL(page.url.href);
  if (value === '') url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  void replaceState(url, {});
}
