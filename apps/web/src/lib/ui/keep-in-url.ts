/**
 * Keeps what a page shows in its address, so that it can be shared, reloaded and gone back to. The entry of the browser's history stays what it
 * is: SvelteKit's own way would make it one whose page is opened by its former address, and takes effect later.
 *
 * @param value empty: the address does not name it
 */
export function keepInUrl(name: string, value: string): void {
  keepAllInUrl({ [name]: value });
}

/** Several at once. */
export function keepAllInUrl(values: Readonly<Record<string, string>>): void {
  const url = new URL(window.location.href);
  for (const [name, value] of Object.entries(values)) {
    if (value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  history.replaceState(history.state, '', url);
}
