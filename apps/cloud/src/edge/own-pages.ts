/**
 * Tells requests of our own pages from those of others (D49). Browsers send cookies to every port of a host and with requests of other
 * sites, but they name the page that asks: in `origin` for every POST, and in `sec-fetch-site`.
 */
export type PageKind = 'own' | 'foreign' | 'unnamed';

export interface PageHeaders {
  /** Empty: absent. */
  readonly origin: string;
  readonly host: string;
  /** `sec-fetch-site` */
  readonly site: string;
}

export type KindOfPage = (headers: PageHeaders) => PageKind;

/** @param publicUrl behind a proxy that ends TLS, pages have the origin of this address, although requests arrive in plaintext */
export function createKindOfPage(scheme: 'http' | 'https', publicUrl: () => string): KindOfPage {
  return ({ origin, host, site }) => {
    const isOwn = (): boolean => {
      const found = URL.parse(origin)?.origin;
      if (found === undefined || found !== origin) return false;
      return found === URL.parse(`${scheme}://${host}`)?.origin || found === URL.parse(publicUrl())?.origin;
    };
    if (origin !== '' && !isOwn()) return 'foreign';
    if (site === '' || (site === 'none' && origin === '')) return origin === '' ? 'unnamed' : 'own';
    return site === 'same-origin' ? 'own' : 'foreign';
  };
}

export function pageHeadersOf(headers: Headers): PageHeaders {
  const of = (name: string): string => headers.get(name) ?? '';
  return { origin: of('origin'), host: of('host'), site: of('sec-fetch-site') };
}

/** Whether a browser says that the page is one of the address that it asked: then a proxy in between has another address than this cloud knows. */
export function isBehindProxy({ origin, host, site }: PageHeaders): boolean {
  const found = URL.parse(origin);
  if (found?.origin !== origin || !/^https?:$/.test(found.protocol)) return false;
  // Without TLS, browsers do not send `sec-fetch-site`.
  return site === 'same-origin' || (site === '' && origin === URL.parse(`https://${host}`)?.origin);
}
