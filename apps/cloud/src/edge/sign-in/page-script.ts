/**
 * The one script of the pages that the cloud itself makes (D49). Their content security policy allows it by its hash, and no other.
 *
 * It writes times in the zone of the browser. It keeps two texts in `localStorage`, which belongs to one port of a host: `platform.session`, the secret of the session, and
 * `platform.begun`, a random text that proves that a sign-in began here, so that a link or another port cannot sign a person in as somebody
 * else. `data-step` of `main` says what the page is for:
 *
 * - none: the fields `session` and `begun` of its forms are filled in; a form that signs out removes the secret.
 * - `open`: the browser could not send the secret while it opened this address; the page asks again with it, and shows the answer.
 * - `enter`: a sign-in has ended here; its secret is in the fragment.
 * - `sign-in`: whoever has a session already goes on.
 * - `follow`: the first link is followed, with `begun`.
 */
import { themeOfUi, timesOfUi } from '../look.ts';

export const pageScript: string = `
${themeOfUi}
${timesOfUi}
const main = document.querySelector('main');
const get = (name) => localStorage.getItem('platform.' + name) ?? '';
const put = (name, value) => localStorage.setItem('platform.' + name, value);
if (get('begun') === '') put('begun', Array.from(crypto.getRandomValues(new Uint8Array(16)), (one) => one.toString(16).padStart(2, '0')).join(''));
const ask = (path) => fetch(path, { headers: { accept: 'text/html', 'platform-session': get('session') || 'none' }, redirect: 'manual' });
const signIn = () => location.replace('/sign-in?next=' + encodeURIComponent(location.pathname + location.search));
function prepare() {
  for (const name of ['session', 'begun']) for (const field of document.querySelectorAll('input[name=' + name + ']')) field.value = get(name);
  for (const time of document.querySelectorAll('time')) time.textContent = format.format(new Date(time.dateTime));
  for (const link of document.querySelectorAll('a[href^="/sign-in/oidc"]')) link.href += '&begun=' + get('begun');
}
const steps = {
  async open() {
    const answer = await ask(location.pathname + location.search);
    if (answer.type === 'opaqueredirect') return signIn();
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    document.title = page.title;
    main.replaceWith(page.querySelector('main'));
    prepare();
  },
  enter() {
    const given = new URLSearchParams(location.hash.slice(1));
    history.replaceState(null, '', location.pathname + location.search);
    if (given.get('begun') !== get('begun') || !given.get('session')) return;
    put('session', given.get('session'));
    location.replace(main.dataset.next);
  },
  async 'sign-in'() {
    if (get('session') === '') return;
    if ((await ask('/api/whoami')).ok) location.replace(main.dataset.next);
    else localStorage.removeItem('platform.session');
  },
  follow() { location.replace(document.querySelector('main a').href); },
};
addEventListener('submit', ({ target }) => {
  if (/\\/sign-out(-everywhere)?$/.test(target.action)) localStorage.removeItem('platform.session');
});
prepare();
steps[main.dataset.step]?.();`;
