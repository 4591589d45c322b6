/**
 * Domains that offer public mailboxes: they do not identify the company of a lead. A short list of the large
 * providers; an unlisted one only costs a look-up without a match.
 */
const freeMailDomains = new Set(
  `126.com 139.com 163.com 21cn.com abv.bg aim.com alice.it aliyun.com aol.co.uk aol.com aol.de
   att.net bellsouth.net bigpond.com bk.ru blueyonder.co.uk bol.com.br btinternet.com
   centrum.cz charter.net comcast.net cox.net daum.net duck.com earthlink.net email.cz
   email.de fastmail.com fastmail.fm foxmail.com free.fr freemail.hu freenet.de gmail.com
   gmx.at gmx.ch gmx.com gmx.de gmx.fr gmx.net googlemail.com hanmail.net hey.com hotmail.be
   hotmail.co.uk hotmail.com hotmail.com.br hotmail.de hotmail.es hotmail.fr hotmail.it
   hotmail.nl hushmail.com icloud.com inbox.lv inbox.ru interia.pl keemail.me laposte.net
   libero.it list.ru live.be live.ca live.cn live.co.uk live.com live.com.au live.com.mx
   live.de live.dk live.fr live.it live.nl live.no live.se luukku.com mac.com mail.com mail.ee
   mail.ru mailbox.org mailfence.com me.com msn.com naver.com nate.com neuf.fr ntlworld.com
   o2.pl online.de onet.pl op.pl optonline.net optusnet.com.au orange.fr outlook.at outlook.be
   outlook.cl outlook.co.id outlook.co.th outlook.com outlook.com.au outlook.com.br outlook.de
   outlook.dk outlook.es outlook.fr outlook.ie outlook.in outlook.it outlook.jp outlook.kr
   outlook.pt outlook.sa outlook.sg passport.com pm.me poczta.fm posteo.de proton.me
   protonmail.ch protonmail.com qq.com rambler.ru rediffmail.com rocketmail.com rogers.com
   runbox.com sapo.pt sbcglobal.net seznam.cz sfr.fr shaw.ca sina.cn sina.com sky.com sohu.com
   sympatico.ca t-online.de talktalk.net telenet.be telus.net terra.com.br tiscali.co.uk
   tiscali.it tuta.com tuta.io tutanota.com tutanota.de uol.com.br verizon.net virgilio.it
   virginmedia.com voila.fr volny.cz wanadoo.fr web.de windowslive.com wp.pl xtra.co.nz ya.ru
   yahoo.ca yahoo.cn yahoo.co.id yahoo.co.in yahoo.co.jp yahoo.co.kr yahoo.co.nz yahoo.co.th
   yahoo.co.uk yahoo.co.za yahoo.com yahoo.com.ar yahoo.com.au yahoo.com.br yahoo.com.cn
   yahoo.com.hk yahoo.com.mx yahoo.com.my yahoo.com.ph yahoo.com.sg yahoo.com.tr yahoo.com.tw
   yahoo.com.vn yahoo.de yahoo.dk yahoo.es yahoo.fr yahoo.gr yahoo.ie yahoo.in yahoo.it
   yahoo.no yahoo.pl yahoo.ro yahoo.se yandex.by yandex.com yandex.kz yandex.ru yandex.ua
   yeah.net ymail.com zohomail.com zohomail.eu`.split(/\s+/),
);

/** Returns true for a canonical host of a free-mail provider. */
export function isFreeMailDomain(host: string): boolean {
  return freeMailDomains.has(host);
}
