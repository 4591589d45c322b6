/** Domains that offer public mailboxes: they do not identify the company of a lead. A short list of the large providers. */
const freeMailDomains = new Set(
  `10minutemail.com 126.com 139.com 163.com 21cn.com abv.bg aim.com alice.it aliyun.com anonaddy.com aol.co.uk aol.com
   aol.com.au aol.de aol.es aol.fr aol.it aol.nl atlas.cz atlas.sk att.net autograf.pl azet.sk bellsouth.net bigmir.net
   bigpond.com bk.ru blueyonder.co.uk bol.com.br btinternet.com c2i.net caramail.com centrum.cz centrum.sk charter.net
   citromail.hu comcast.net consultant.com cox.net daum.net dbmail.com duck.com earthlink.net email.com email.cz
   email.de email.it engineer.com europe.com excite.com fastmail.com fastmail.fm foxmail.com free.fr freemail.hu
   freenet.de fsmail.net gazeta.pl globomail.com gmail.com gmx.at gmx.ch gmx.co.uk gmx.com gmx.de gmx.es gmx.eu gmx.fr
   gmx.info gmx.li gmx.net gmx.org gmx.us googlemail.com guerrillamail.com hanmail.net hey.com hot.ee hotmail.at
   hotmail.be hotmail.ca hotmail.ch hotmail.cl hotmail.co.jp hotmail.co.nz hotmail.co.th hotmail.co.uk hotmail.co.za
   hotmail.com hotmail.com.ar hotmail.com.au hotmail.com.br hotmail.com.mx hotmail.com.tr hotmail.de hotmail.dk
   hotmail.es hotmail.fi hotmail.fr hotmail.gr hotmail.it hotmail.nl hotmail.no hotmail.se hushmail.com i.ua icloud.com
   inbox.lt inbox.lv inbox.ru indamail.hu interia.eu interia.pl jubii.dk juno.com katamail.com keemail.me laposte.net
   libero.it list.ru live.at live.be live.ca live.cl live.cn live.co.uk live.co.za live.com live.com.ar live.com.au
   live.com.mx live.com.my live.com.pt live.com.sg live.de live.dk live.fr live.hk live.ie live.in live.it live.jp
   live.nl live.no live.ru live.se luukku.com lycos.com mac.com mail.bg mail.com mail.com.tr mail.de mail.dk mail.ee
   mail.ru mailbox.org mailfence.com mailinator.com me.com meta.ua mozmail.com msn.com nate.com naver.com netzero.com
   netzero.net neuf.fr ntlworld.com o2.pl ofir.dk onet.pl online.de op.pl optonline.net optusnet.com.au orange.fr
   outlook.at outlook.be outlook.cl outlook.co.id outlook.co.nz outlook.co.th outlook.com outlook.com.au outlook.com.br
   outlook.com.gr outlook.com.tr outlook.com.vn outlook.cz outlook.de outlook.dk outlook.es outlook.fr outlook.hu
   outlook.ie outlook.in outlook.it outlook.jp outlook.kr outlook.lv outlook.my outlook.ph outlook.pt outlook.ro
   outlook.sa outlook.sg outlook.sk passagen.se passport.com pm.me poczta.fm post.com post.cz post.sk posteo.de
   posteo.net proton.me protonmail.ch protonmail.com qq.com quick.cz rambler.ru rediffmail.com rocketmail.com
   rogers.com runbox.com sapo.pt sbcglobal.net seznam.cz sfr.fr shaw.ca sina.cn sina.com skiff.com sky.com sohu.com
   spray.se suomi24.fi sympatico.ca t-online.de talktalk.net telenet.be telus.net temp-mail.org terra.com.br
   tiscali.co.uk tiscali.it tlen.pl ttmail.com tut.by tuta.com tuta.io tutanota.com tutanota.de ukr.net uol.com.br
   usa.com verizon.net vipmail.hu virgilio.it virginmedia.com voila.fr volny.cz vp.pl walla.co.il walla.com wanadoo.fr
   web.de webmail.co.za windowslive.com wp.pl xtra.co.nz ya.com ya.ru yahoo.at yahoo.ca yahoo.cl yahoo.cn yahoo.co.id
   yahoo.co.in yahoo.co.jp yahoo.co.kr yahoo.co.nz yahoo.co.th yahoo.co.uk yahoo.co.za yahoo.com yahoo.com.ar
   yahoo.com.au yahoo.com.br yahoo.com.cn yahoo.com.co yahoo.com.hk yahoo.com.mx yahoo.com.my yahoo.com.pe yahoo.com.ph
   yahoo.com.sg yahoo.com.tr yahoo.com.tw yahoo.com.vn yahoo.de yahoo.dk yahoo.es yahoo.fi yahoo.fr yahoo.gr yahoo.ie
   yahoo.in yahoo.it yahoo.nl yahoo.no yahoo.pl yahoo.ro yahoo.se yandex.by yandex.com yandex.kz yandex.ru yandex.ua
   yeah.net ymail.com yopmail.com zipmail.com.br zohomail.com zohomail.eu zoznam.sk`.split(/\s+/),
);

/** Returns true for a canonical host of a free-mail provider. */
export function isFreeMailDomain(host: string): boolean {
  return freeMailDomains.has(host);
}

/**
 * Domains of providers of Internet access, telephone and certified mail. They are their own sites too, so only an address
 * there identifies no company: `jane@telia.com` is a customer of Telia, which would match as her company.
 */
const accessDomains = new Set(
  `189.cn a1.net absamail.co.za aliceadsl.fr ameritech.net aon.at arcor.de arubapec.it base.be bbox.fr bell.net bezeqint.net
   biglobe.ne.jp bigpond.net.au bluewin.ch bredband.net broadpark.no btopenworld.com cableone.net casema.nl cegetel.net
   centurylink.net centurytel.net chello.at chello.nl clear.net.nz clix.pt club-internet.fr cogeco.ca comhem.se delfi.lt
   demon.co.uk docomo.ne.jp dodo.com.au eastlink.ca eircom.net elisanet.fi embarqmail.com emirates.net.ae ewe.net ewetel.net
   ezweb.ne.jp fastwebnet.it forthnet.gr freeserve.co.uk frontier.com frontiernet.net getmail.no globo.com hetnet.nl hinet.net
   hispeed.ch home.nl home.se i.softbank.jp iafrica.com ig.com.br iinet.net.au in.gr indiatimes.com inode.at inwind.it iol.it
   kabelmail.de kolumbus.fi kpnmail.nl kpnplanet.nl legalmail.it lineone.net mail.telepac.pt mindspring.com movistar.es mts.net
   mweb.co.za mynet.com neostrada.pl netcologne.de netscape.net netvigator.com netvision.net.il nifty.com numericable.fr
   o2.co.uk o2online.de ocn.ne.jp oi.com.br on.net one.lt onetel.com online.ee online.no ono.com optimum.net otenet.gr
   pacbell.net pacific.net.sg paradise.net.nz pchome.com.tw pec.it pipex.com planet.nl plus.com postecert.it pp.inet.fi
   prodigy.net proximus.be q.com quicknet.nl r7.com rcn.com relay.firefox.com roadrunner.com rr.com sasktel.net saunalahti.fi
   scarlet.be sify.com simplelogin.com singnet.com.sg skynet.be slingshot.co.nz snet.net so-net.ne.jp softbank.ne.jp
   starhub.net.sg stofanet.dk streamyx.com suddenlink.net sunrise.ch supanet.com superonline.com swbell.net swipnet.se
   t-online.hu tdcadsl.dk tele2.nl tele2.se telefonica.net telia.com telkomsa.net terra.es tesco.net tim.it tin.it tm.net.my
   tpg.com.au unity-mail.de unitybox.de upcmail.nl utanet.at videotron.ca virgin.net vodafone.co.nz vodafone.de vodafone.it
   vodamail.co.za westnet.com.au windstream.net wowway.com xs4all.nl zahav.net.il ziggo.nl zonnet.nl`.split(
    /\s+/,
  ),
);

/** Returns true for the host of an address whose owner is a customer of the host's. */
export function isAccessDomain(host: string): boolean {
  return accessDomains.has(host);
}
