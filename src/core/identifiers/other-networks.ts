import { isAccessDomain, isFreeMailDomain } from './free-mail-domains.ts';

/**
 * Hosts of social networks, page builders, directories and short links whose pages belong to their users. A profile URL there
 * does not belong to the professional network, and such a page is not its owner's domain.
 */
const networkHosts = new Set([
  'angel.co',
  'bit.ly',
  'bsky.app',
  'crunchbase.com',
  'docs.google.com',
  'drive.google.com',
  'facebook.com',
  'fb.com',
  'g.page',
  'github.com',
  'gitlab.com',
  'goo.gl',
  'instagram.com',
  'linktr.ee',
  'lnkd.in',
  'mastodon.social',
  'medium.com',
  'pinterest.com',
  'reddit.com',
  'sites.google.com',
  'snapchat.com',
  't.co',
  't.me',
  'threads.net',
  'tiktok.com',
  'tinyurl.com',
  'tumblr.com',
  'twitter.com',
  'vimeo.com',
  'vk.com',
  'wikipedia.org',
  'x.com',
  'xing.com',
  'yelp.com',
  'youtube.com',
]);

const hosts = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Other hosts whose pages are about others: shops, jobs, apps, appointments, registers, directories, payments, short links. */
const pageHosts = hosts(`
  11880.com 192.com 1drv.ms about.me airbnb.com alibaba.com aliexpress.com allabolag.se amazon.jobs amzn.to angi.com apollo.io
  apps.apple.com apps.microsoft.com autotrader.co.uk avvo.com bark.com bbb.org beacons.ai behance.net bio.link bloomberg.com
  booking.com brownbook.net buff.ly buymeacoffee.com calendly.com campsite.bio canva.com capterra.com carrd.co cash.app
  cbinsights.com checkatrade.com chromewebstore.google.com clutch.co companieshouse.gov.uk company-information.service.gov.uk
  companyhouse.de craft.co cutt.ly cylex-uk.co.uk cylex.de dasoertliche.de deliveroo.co.uk detelefoongids.nl discord.com
  discord.gg dnb.com doctolib.de doctolib.fr doordash.com dribbble.com dropbox.com endole.co.uk eniro.se europages.co.uk
  europages.com eventbrite.co.uk eventbrite.com f6s.com fb.me finance.yahoo.com firmenabc.at firmy.cz fiverr.com flickr.com
  flow.page forms.gle forms.office.com foursquare.com g.co g2.com gelbeseiten.de gofundme.com goldenpages.ie golocal.de
  goudengids.be goyellow.de grubhub.com gulesider.no handelsregister.de healthgrades.com herold.at hitta.se homeadvisor.com
  hotfrog.com houzz.com imdb.com immobilienscout24.de indiamart.com indiegogo.com infogreffe.fr is.gd issuu.com jameda.de
  just-eat.co.uk justdial.com kickstarter.com ko-fi.com kompass.com krak.dk lieferando.de line.me linkedin.com linkin.bio
  lnk.bio local.ch m.me manta.com meet.google.com meetup.com meinestadt.de monster.com naukri.com notion.site notion.so ok.ru
  onedrive.live.com open.spotify.com opencorporates.com opentable.com outlook.office.com ow.ly owler.com pagesjaunes.fr
  paginasamarillas.es paginegialle.it panoramafirm.pl pappers.fr patreon.com paypal.me pitchbook.com play.google.com
  producthunt.com proff.dk proff.no proff.se psychologytoday.com quora.com rb.gy realtor.com rebrand.ly reed.co.uk
  rightmove.co.uk rocketreach.co scribd.com share.google slideshare.net societe.com soundcloud.com stepstone.de taplink.cc
  teams.microsoft.com thefork.com thomasnet.com thomsonlocal.com threads.com thumbtack.com tiny.cc totaljobs.com tracxn.com
  treatwell.co.uk truelocal.com.au twitch.tv ubereats.com upwork.com venmo.com wa.link wa.me wellfound.com whatsapp.com wlw.de
  ycombinator.com yell.com yellowpages.ca yellowpages.com yellowpages.com.au youtu.be zillow.com ziprecruiter.com zoom.us
  zoominfo.com zoopla.co.uk
`);
/** Hosts below which customers have sites, shops, help desks or pages of jobs, without an entry in the Public Suffix List. */
const siteHosts = hosts(`
  1688.com acuityscheduling.com alibaba.com aliexpress.com angelfire.com appleid.com applytojob.com as.me ashbyhq.com atlassian.net
  bamboohr.com bandcamp.com beehiiv.com beepworld.de bigcartel.com booksy.com breezy.hr business.site cafe24.com canalblog.com
  canva.site circle.so clickfunnels.com company.site crayonsite.net de.tl e-monsite.com ecer.com edublogs.org eklablog.com force.com
  framer.site freshdesk.com freshteam.com ghost.io globalsources.com godaddysites.com goope.jp greenhouse.io gumroad.com
  helpscoutdocs.com homestead.com hpage.com hs-sites.com hubside.fr hubspotpagebuilder.com icims.com imweb.me indiamart.com
  instapage.com intercom.help ionos.space itch.io jimdo.com jimdofree.com jimdosite.com jobvite.com jouwweb.nl kajabi.com kartra.com
  lever.co livejournal.com lojaintegrada.com.br made-in-china.com mailchi.mp mailchimpsites.com modoo.at mozello.com mykajabi.com
  mystrikingly.com myworkdayjobs.com narod.ru negocio.site npage.de odoo.com onmicrosoft.com oraclecloud.com over-blog.com page.link
  pagesperso-orange.fr personio.com personio.de podia.com prom.ua readme.io recruitee.com salesforce.com setmore.com sharepoint.com
  shop-pro.jp shopify.com simvoly.com site123.me sitew.com slack.com smartrecruiters.com softr.app squarespace.com statuspage.io
  stores.jp strato.site strikingly.com substack.com successfactors.com successfactors.eu taleo.net taobao.com teachable.com
  teamtailor.com thebase.in thinkific.com tilda.ws tmall.com tradeindia.com tripod.com typeform.com typepad.com ucoz.ru ueniweb.com
  unbouncepages.com webs.com webself.net weebly.com weeblysite.com wifeo.com wix.com wordpress.com workable.com xoom.it zendesk.com
  zohorecruit.com zohosites.com
`);
/** Hosts of a provider or a site builder on which its customers have a page by the path: `home.t-online.de/home/acme`. */
const SHARED_HOST =
  /^(?:apply|blogs?|boards|book|cafe|careers?\d{0,2}|digilander|freespace|free|home|homepages?|job-boards|jobs|members?|my|pages?|people|perso|personal|sites?|smartstore|stores?|users?|utenti|web|webspace)\./;
/** Site builders with a domain in each country. */
const SITE_HOST = /^(?:blogspot|webador|webnode)\.(?:[a-z]{2,4}|co\.uk|com\.[a-z]{2})$/;
const PAGE_HOST =
  /^(?:[a-z0-9-]{1,20}\.)?(?:amazon|ebay|etsy|glassdoor|indeed|kununu|northdata|tripadvisor|trustpilot)\.(?:com|co|[a-z]{2})(?:\.[a-z]{2})?$/;

/** Paths that a company's own site has too, so they do not indicate a user's page. */
const OWN_PAGES = /^(?:about|about-us|company|contact|home|index\.\w+|legal|privacy)$/i;

/** Pages of a search engine, and links of a mail filter, about something else. */
const SEARCH_PAGE =
  /^(?:(?:maps|translate)\.google\.[a-z.]{2,6}[/\\?]|(?:www\.)?google\.[a-z.]{2,6}[/\\]+(?:maps|search|url)\b|webcache\.googleusercontent\.com[/\\]|(?:www\.)?bing\.com[/\\]+(?:ck|maps|search)\b|(?:[a-z]{2}\.)?search\.yahoo\.com[/\\]|urldefense\.(?:com|proofpoint\.com)[/\\]+v\d|[a-z0-9-]{1,40}\.mimecast\.com[/\\]+s[/\\]|secure-web\.cisco\.com[/\\])/i;

/** Returns true for a lower-case host of one of the networks or below it. */
export function isOtherNetwork(host: string): boolean {
  return isBelow(host, networkHosts);
}

/** Returns true for a lower-case host whose pages are about others than its owner. */
export function hasPagesOfOthers(host: string): boolean {
  return isOtherNetwork(host) || isBelow(host, pageHosts) || PAGE_HOST.test(host);
}

/** Returns true for a registrable domain below which hosts are others': `acme.zendesk.com` is Acme's. */
export function hasSitesOfOthers(domain: string): boolean {
  return siteHosts.has(domain) || SITE_HOST.test(domain) || hasPagesOfOthers(domain);
}

function isBelow(host: string, hosts: ReadonlySet<string>): boolean {
  const labels = host.split('.');
  return [2, 3, 4].some((length) => hosts.has(labels.slice(-length).join('.')));
}

/** Returns true for a URL of a page about another than its host's owner: `facebook.com/acme`, not `facebook.com`. */
export function isProfilePage(host: string, path: string): boolean {
  if (SEARCH_PAGE.test(host + path)) return true;
  const [, first = '', second = ''] = path.split(/[/\\?#]/, 3);
  if (first === '') return false;
  if (isOnSharedHost(host) || (first.startsWith('@') && isBelow(host, siteHosts))) return true;
  // `linkedin.com/company/acme` is no page about LinkedIn.
  const isOwn = OWN_PAGES.test(first) && (first !== 'company' || second === '');
  return !isOwn && hasPagesOfOthers(host);
}

function isOnSharedHost(host: string): boolean {
  if (!SHARED_HOST.test(host)) return false;
  const labels = host.split('.');
  return labels.slice(1, -1).some((_, at) => isOfProvider(labels.slice(at + 1).join('.')));
}

function isOfProvider(domain: string): boolean {
  return isFreeMailDomain(domain) || isAccessDomain(domain) || hasSitesOfOthers(domain);
}
